/**
 * Who is at the other end of a TLS connection, by client certificate. The handshake never fails because of a bad certificate:
 * the request carries the reason, and the server core answers with a 401 Status, as a real server does.
 */
import { createHash } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import type { ApiRequest } from '../../kube/http.ts'

export interface PeerIdentity extends Pick<ApiRequest, 'peer' | 'refusedPeer'> {
  /** A certificate may expire while its connection stays open. */
  notAfterMs?: number
}

export function identifyPeer(socket: Pick<TLSSocket, 'getPeerCertificate' | 'authorized' | 'authorizationError'>): PeerIdentity {
  const certificate = socket.getPeerCertificate(false)
  if (certificate?.raw === undefined) return {}
  if (!socket.authorized) return { refusedPeer: String(socket.authorizationError) }
  const subject: Record<string, string | string[] | undefined> = { ...certificate.subject }
  const names = [subject.CN ?? []].flat()
  return {
    peer: {
      // The last of several common names counts, as in Go.
      commonName: names[names.length - 1] ?? '',
      organizations: [subject.O ?? []].flat(),
      sha256: createHash('sha256').update(certificate.raw).digest('hex'),
    },
    notAfterMs: Date.parse(certificate.valid_to),
  }
}

export function peerAt(identity: PeerIdentity, nowMs: number): Pick<ApiRequest, 'peer' | 'refusedPeer'> {
  if (identity.notAfterMs !== undefined && nowMs > identity.notAfterMs) return { refusedPeer: 'CERT_HAS_EXPIRED' }
  return { peer: identity.peer, refusedPeer: identity.refusedPeer }
}
