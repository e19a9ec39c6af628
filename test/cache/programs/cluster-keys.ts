/** The cluster as the master asks it: its keys over https, and tokens of service accounts that are signed with one of them. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { makeAuthority, makeLeaf, makePrivateKey } from '../../../src/apiserver/pki/certificates.ts'
import type { Random } from '../../../src/base/random.ts'
import { cacheAudience } from '../../../src/kube/cache-audience.ts'
import { DATASET } from './scene.ts'

const ISSUER = 'https://cluster.test'
const AUDIENCE = cacheAudience(DATASET)
const KEY_ID = 'proof'
const DAY_MS = 86_400_000

export interface ClusterKeys {
  port: number
  /** A token of the namespace for the cache. */
  token(namespace: string): string
  close(): void
}

/** Writes `ca.crt` and `token` of the master's own account into `account`. */
export async function startClusterKeys(host: string, account: string, random: Random): Promise<ClusterKeys> {
  const nowMs = Date.now()
  const made = { notBeforeMs: nowMs - DAY_MS, notAfterMs: nowMs + DAY_MS, random }
  const key = await makePrivateKey()
  const authority = { key, certificate: await makeAuthority(key, 'proof', made) }
  const subject = { commonName: 'cluster', organizations: [] }
  const leaf = await makeLeaf({ ...made, authority, subject, purpose: { server: [host] } })
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keySet = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'ES256', use: 'sig' }] })

  const token = (namespace: string): string => {
    const claims = {
      iss: ISSUER,
      aud: [AUDIENCE],
      exp: Math.floor(nowMs / 1000) + 86_400,
      'kubernetes.io': { namespace, serviceaccount: { name: 'default' } },
    }
    const [head, body] = [{ alg: 'ES256', kid: KEY_ID }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    const signature = sign('sha256', Buffer.from(`${head}.${body}`), { key: privateKey, dsaEncoding: 'ieee-p1363' })
    return `${head}.${body}.${signature.toString('base64url')}`
  }

  mkdirSync(account, { recursive: true })
  writeFileSync(path.join(account, 'ca.crt'), authority.certificate)
  writeFileSync(path.join(account, 'token'), token('master'))
  const server = https.createServer({ key: leaf.key, cert: leaf.certificate }, (request, response) => {
    response.writeHead(request.url === '/openid/v1/jwks' ? 200 : 404, { 'content-type': 'application/json' }).end(keySet)
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    token,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
