/**
 * The keys and certificates of one cluster, in one directory: made at the first start, renewed when less than a third of
 * their lifetime remains. The authority is renewed with the same key, so kubeconfigs and certificates handed out before stay
 * valid. A damaged leaf is made again; a damaged authority is an error, because replacing it would lock everyone out.
 */

import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { ErrorCode } from '../../base/errors/catalogue.ts'
import type { Random } from '../../base/random.ts'
import {
  isAddress,
  type KeyPair,
  type LeafPurpose,
  makeAuthority,
  makeLeaf,
  makePrivateKey,
  type Subject,
  type Validity,
} from './certificates.ts'

/** Where the files are. `write` replaces a file whole, readable by its owner alone, and is durable when it returns. */
export interface KeyDirectory {
  read(name: string): Promise<string | undefined>
  write(name: string, text: string): Promise<void>
  /** For messages to people. */
  readonly path: string
}

export interface PkiOptions {
  directory: KeyDirectory
  clock: Clock
  random: Random
  /** Further names and addresses of the server. */
  hosts?: readonly string[]
}

export interface Pki {
  /** PEM of the authority: clients verify the server with it, and the server its clients. */
  authority: string
  serving: KeyPair
  /** Client certificate of user `admin` in system:masters. */
  admin: KeyPair
  /** Bearer token of the same user. */
  adminToken: string
  /** PEM of the private key that signs service account tokens. */
  serviceAccountKey: string
  /** When one of these should be renewed: call `ensurePki` again then. */
  renewAtMs: number
  /** A client certificate for any user; not kept. */
  issueClient(subject: Subject): Promise<KeyPair>
}

/** A state of the directory that must not be repaired silently; the message says what to do. */
export class PkiError extends Error {
  readonly code = 'E_PKI_UNUSABLE' satisfies ErrorCode
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'PkiError'
  }
}

const DAY_MS = 24 * 60 * 60 * 1000
const AUTHORITY_LIFE_MS = 10 * 365 * DAY_MS
const LEAF_LIFE_MS = 365 * DAY_MS
/** For a client whose clock is slightly behind, the certificate must already be valid. */
const BACKDATE_MS = 5 * 60 * 1000
const AUTHORITY_NAME = 'sluice-ca'

/** Names by which pods, people and this process reach the server. */
const SERVING_HOSTS = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  '127.0.0.1',
  '::1',
  '10.0.0.1',
]

export async function ensurePki(options: PkiOptions): Promise<Pki> {
  const authority = await ensureAuthority(options)
  const hosts = [...new Set([...SERVING_HOSTS, ...(options.hosts ?? [])])]
  const serving = await ensureLeaf(options, authority, {
    file: 'apiserver',
    subject: { commonName: 'kube-apiserver', organizations: [] },
    purpose: { server: hosts },
  })
  const admin = await ensureLeaf(options, authority, {
    file: 'admin',
    subject: { commonName: 'admin', organizations: ['system:masters'] },
    purpose: { client: true },
  })
  const serviceAccountKey = await ensureText(options, 'sa.key', makePrivateKey)
  checkKey(serviceAccountKey, 'sa.key', options.directory)
  await ensureText(options, 'sa.pub', async () => createPublicKey(serviceAccountKey).export({ type: 'spki', format: 'pem' }).toString())
  const adminToken = await ensureText(options, 'admin.token', async () => Buffer.from(options.random.bytes(32)).toString('base64url'))
  return {
    authority: authority.certificate,
    serving,
    admin,
    adminToken: adminToken.trim(),
    serviceAccountKey,
    renewAtMs: Math.min(...[authority, serving, admin].map((pair) => renewalOf(new X509Certificate(pair.certificate)))),
    issueClient: (subject) =>
      makeLeaf({ authority, subject, purpose: { client: true }, random: options.random, ...life(options.clock, LEAF_LIFE_MS) }),
  }
}

async function ensureAuthority(options: PkiOptions): Promise<KeyPair> {
  const { directory, clock, random } = options
  const certificate = await directory.read('ca.crt')
  let key = await directory.read('ca.key')
  if (key === undefined) {
    if (certificate !== undefined) {
      const advice = 'put the file back, or remove ca.crt as well to start over with a new authority (old kubeconfigs then stop working)'
      throw new PkiError(`${directory.path}/ca.key is missing beside ca.crt: ${advice}`)
    }
    key = await makePrivateKey()
    await directory.write('ca.key', key)
  }
  checkKey(key, 'ca.key', directory)
  const known = certificate === undefined ? undefined : tryCertificate(certificate)
  if (certificate !== undefined && known === undefined)
    throw new PkiError(
      `${directory.path}/ca.crt cannot be read as a certificate: put a good copy back, or remove it to have it made again from ca.key`,
    )
  if (certificate !== undefined && known !== undefined && !known.checkPrivateKey(createPrivateKey(key)))
    throw new PkiError(`${directory.path}/ca.crt and ca.key do not belong together: put the matching pair back`)
  if (certificate !== undefined && known !== undefined && clock.now() < renewalOf(known)) return { certificate, key }
  const renewed = await makeAuthority(key, AUTHORITY_NAME, { ...life(clock, AUTHORITY_LIFE_MS), random })
  await directory.write('ca.crt', renewed)
  return { certificate: renewed, key }
}

interface LeafPlan {
  file: string
  subject: Subject
  purpose: LeafPurpose
}

async function ensureLeaf(options: PkiOptions, authority: KeyPair, plan: LeafPlan): Promise<KeyPair> {
  const { directory, clock, random } = options
  const certificate = await directory.read(`${plan.file}.crt`)
  const key = await directory.read(`${plan.file}.key`)
  if (certificate !== undefined && key !== undefined && isUsable({ certificate, key }, authority, { ...plan, nowMs: clock.now() }))
    return { certificate, key }
  const made = await makeLeaf({ authority, subject: plan.subject, purpose: plan.purpose, random, ...life(clock, LEAF_LIFE_MS) })
  // The key first: a crash in between leaves a pair that does not match, which the next start notices and makes anew.
  await directory.write(`${plan.file}.key`, made.key)
  await directory.write(`${plan.file}.crt`, made.certificate)
  return made
}

function isUsable(pair: KeyPair, authority: KeyPair, plan: LeafPlan & { nowMs: number }): boolean {
  const certificate = tryCertificate(pair.certificate)
  const key = tryPrivateKey(pair.key)
  if (certificate === undefined || key === undefined || !certificate.checkPrivateKey(key)) return false
  if (!certificate.verify(new X509Certificate(authority.certificate).publicKey)) return false
  const hosts = 'server' in plan.purpose ? plan.purpose.server : []
  const covers = (host: string) => (isAddress(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined
  return plan.nowMs < renewalOf(certificate) && hosts.every(covers)
}

async function ensureText({ directory }: PkiOptions, name: string, make: () => Promise<string>): Promise<string> {
  const known = await directory.read(name)
  if (known !== undefined && known.trim() !== '') return known
  const made = await make()
  await directory.write(name, made)
  return made
}

/** Two thirds into its life. */
function renewalOf(certificate: X509Certificate): number {
  const from = Date.parse(certificate.validFrom)
  const to = Date.parse(certificate.validTo)
  return to - (to - from) / 3
}

const life = (clock: Clock, lifeMs: number): Validity => ({ notBeforeMs: clock.now() - BACKDATE_MS, notAfterMs: clock.now() + lifeMs })

function checkKey(pem: string, name: string, directory: KeyDirectory): void {
  if (tryPrivateKey(pem)?.asymmetricKeyDetails?.namedCurve === 'prime256v1') return
  throw new PkiError(`${directory.path}/${name} cannot be read as a private key on P-256: put a good copy back`)
}

function tryCertificate(pem: string): X509Certificate | undefined {
  return attempt(() => new X509Certificate(pem))
}

function tryPrivateKey(pem: string): ReturnType<typeof createPrivateKey> | undefined {
  return attempt(() => createPrivateKey(pem))
}

/** OpenSSL reports a mismatch by throwing; any of its errors means that the text is not what it should be. */
function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}
