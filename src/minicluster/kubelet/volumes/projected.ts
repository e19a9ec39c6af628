/** projected: several sources in one directory: ConfigMaps, Secrets, fields of the pod, service account tokens. */
import { secretBytes } from '../../../kinds/kubernetes/secret-data.ts'
import type { Volume, VolumeProjection } from '../../../kinds/kubernetes/types.ts'
import {
  type Source,
  type TokenOrder,
  type VolumeContext,
  type VolumeDriver,
  type VolumeFile,
  waiting,
} from '../../../runtime/seams/volume-driver.ts'
import { DEFAULT_MODE, dataOfConfigMap, downwardPayload, type Payload, payloadOf } from './payload.ts'

/** What kubelets request by default; also the API server's default. */
const DEFAULT_SECONDS = 3600

const sourcesOf = (volume: Volume): readonly VolumeProjection[] => volume.projected?.sources ?? []

export const projected: VolumeDriver = {
  field: 'projected',
  sources: (volume) =>
    sourcesOf(volume).flatMap(({ configMap, secret }): Source[] => [
      ...(configMap === undefined ? [] : [{ kind: 'ConfigMap' as const, name: configMap.name ?? '' }]),
      ...(secret === undefined ? [] : [{ kind: 'Secret' as const, name: secret.name ?? '' }]),
    ]),
  tokens: (volume) => sourcesOf(volume).flatMap((source) => (source.serviceAccountToken === undefined ? [] : [orderOf(source)])),
  plan(volume, context) {
    const defaultMode = volume.projected?.defaultMode ?? DEFAULT_MODE
    const files: VolumeFile[] = []
    const versions: string[] = []
    for (const source of sourcesOf(volume)) {
      const part = partOf(source, defaultMode, context)
      if ('problem' in part) return waiting(part.problem)
      files.push(...part.files)
      versions.push(part.version)
    }
    return { kind: 'files', version: JSON.stringify(versions), files: () => files }
  },
}

function orderOf({ serviceAccountToken: token }: VolumeProjection): TokenOrder {
  return { path: token?.path ?? '', audience: token?.audience, expirationSeconds: token?.expirationSeconds ?? DEFAULT_SECONDS }
}

type Part = { files: VolumeFile[]; version: string } | { problem: string }

function partOf(source: VolumeProjection, defaultMode: number, context: VolumeContext): Part {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source
  if (configMap !== undefined) {
    const found = context.configMap(configMap.name ?? '')
    if (found === undefined) return absent(configMap.optional, `configmap "${configMap.name ?? ''}" not found`)
    const choice = { ...configMap, defaultMode, what: 'configmap' }
    return versioned(payloadOf(dataOfConfigMap(found), choice), `${found.metadata.uid}/${found.metadata.resourceVersion}`)
  }
  if (secret !== undefined) {
    const found = context.secret(secret.name ?? '')
    if (found === undefined) return absent(secret.optional, `secret "${secret.name ?? ''}" not found`)
    const choice = { ...secret, defaultMode, what: 'secret' }
    return versioned(payloadOf(secretBytes(found), choice), `${found.metadata.uid}/${found.metadata.resourceVersion}`)
  }
  if (downwardAPI !== undefined) {
    const payload = downwardPayload(downwardAPI.items, defaultMode, context)
    const text = 'files' in payload ? JSON.stringify(payload.files.map(({ content }) => Buffer.from(content).toString())) : ''
    return versioned(payload, text)
  }
  if (serviceAccountToken !== undefined) {
    const order = orderOf(source)
    const token = context.token(order)
    if (token === undefined) return { problem: 'the service account token has not been fetched yet' }
    if ('problem' in token) return token
    const content = new TextEncoder().encode(token.token)
    return { files: [{ path: order.path, content, mode: defaultMode }], version: `token ${token.issuedAtMs}` }
  }
  if (clusterTrustBundle !== undefined) return { problem: 'clusterTrustBundle projections are not supported on process nodes' }
  if (podCertificate !== undefined) return { problem: 'podCertificate projections are not supported on process nodes' }
  return { files: [], version: '' }
}

const absent = (optional: boolean | undefined, problem: string): Part => (optional === true ? { files: [], version: 'none' } : { problem })

const versioned = (payload: Payload, version: string): Part => ('problem' in payload ? payload : { files: payload.files, version })
