/**
 * X.509 certificates on P-256 keys: an authority, and what it signs for servers and clients. The library that writes them
 * takes a fifth of a second to load, so it is loaded only when the first certificate is made; reading and
 * checking use node:crypto.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import type { Random } from '../../base/random.ts'

/** PEM texts. The certificate may be followed by its issuers. */
export interface KeyPair {
  certificate: string
  key: string
}

export interface Validity {
  notBeforeMs: number
  notAfterMs: number
}

export interface Subject {
  commonName: string
  organizations: readonly string[]
}

export type LeafPurpose = { server: readonly string[] } | { client: true }

const makeKeyPair = promisify(generateKeyPair)
const ECDSA = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const

/** A fresh P-256 private key, PKCS #8 in PEM. */
export async function makePrivateKey(): Promise<string> {
  const { privateKey } = await makeKeyPair('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** A self-signed authority for `key`: made again with the same key, it is trusted by everyone who trusted the old one. */
export async function makeAuthority(key: string, commonName: string, made: Validity & { random: Random }): Promise<string> {
  const x509 = await loadX509()
  const keys = await importKeys(key)
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(made.random),
    name: new x509.Name([{ CN: [verbatim(commonName)] }]),
    notBefore: new Date(made.notBeforeMs),
    notAfter: new Date(made.notAfterMs),
    signingAlgorithm: SIGNATURE,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false),
    ],
  })
  return `${certificate.toString('pem')}\n`
}

export interface LeafOrder extends Validity {
  authority: KeyPair
  subject: Subject
  purpose: LeafPurpose
  random: Random
}

/** A new key with a certificate for it, signed by the authority. */
export async function makeLeaf(order: LeafOrder): Promise<KeyPair> {
  const x509 = await loadX509()
  const key = await makePrivateKey()
  const { publicKey } = await importKeys(key)
  const authority = new x509.X509Certificate(order.authority.certificate)
  const signer = await importKeys(order.authority.key)
  const { commonName, organizations } = order.subject
  const isServer = 'server' in order.purpose
  const usage = isServer ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth
  const names = 'server' in order.purpose ? order.purpose.server : []
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(order.random),
    subject: new x509.Name([...(organizations.length === 0 ? [] : [{ O: organizations.map(verbatim) }]), { CN: [verbatim(commonName)] }]),
    issuer: authority.subjectName,
    notBefore: new Date(order.notBeforeMs),
    notAfter: new Date(order.notAfterMs),
    signingAlgorithm: SIGNATURE,
    publicKey,
    signingKey: signer.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([usage], false),
      await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey, false),
      await x509.SubjectKeyIdentifierExtension.create(publicKey, false),
      ...(names.length === 0
        ? []
        : [new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: isAddress(value) ? 'ip' : 'dns', value })))]),
    ],
  })
  return { certificate: `${certificate.toString('pem')}\n`, key }
}

/** In a plain string the library would interpret quotes and escapes, and a name must be taken literally. */
const verbatim = (text: string) => ({ utf8String: text })

/** Whether a host is an IP address and not a name. */
export const isAddress = (host: string): boolean => host.includes(':') || /^\d{1,3}(\.\d{1,3}){3}$/.test(host)

/** Positive, never zero, and unguessable: sixteen random bytes with the sign bit off. */
function serial(random: Random): string {
  const bytes = random.bytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return Buffer.from(bytes).toString('hex')
}

async function importKeys(pem: string): Promise<webcrypto.CryptoKeyPair> {
  const privateKey = createPrivateKey(pem)
  const publicKey = createPublicKey(privateKey)
  const der = (key: KeyObject, type: 'pkcs8' | 'spki') => key.export({ type, format: 'der' } as { type: 'spki'; format: 'der' })
  return {
    privateKey: await webcrypto.subtle.importKey('pkcs8', der(privateKey, 'pkcs8'), ECDSA, false, ['sign']),
    publicKey: await webcrypto.subtle.importKey('spki', der(publicKey, 'spki'), ECDSA, true, ['verify']),
  }
}

async function loadX509(): Promise<typeof import('@peculiar/x509')> {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}
