/** Files from the data of ConfigMaps, Secrets and the downward API: which keys, where, with which mode. Pure. */
import type { ConfigMap, DownwardAPIVolumeFile, KeyToPath } from '../../../kinds/kubernetes/types.ts'
import type { VolumeContext, VolumeFile } from '../../../runtime/seams/volume-driver.ts'
import { fieldValue, resourceValue } from '../environment/downward.ts'

export const DEFAULT_MODE = 0o644

export type Payload = { files: VolumeFile[] } | { problem: string }

export type Data = ReadonlyMap<string, Uint8Array>

const encoder = new TextEncoder()

export function dataOfConfigMap({ data, binaryData }: ConfigMap): Data {
  return new Map([
    ...Object.entries(data ?? {}).map(([key, text]): [string, Uint8Array] => [key, encoder.encode(text)]),
    ...Object.entries(binaryData ?? {}).map(([key, base64]): [string, Uint8Array] => [key, Buffer.from(base64, 'base64')]),
  ])
}

export interface Choice {
  items?: KeyToPath[]
  defaultMode?: number
  optional?: boolean
  /** What the data is called in the message: `configmap`, `secret`. */
  what: string
}

/** All keys as files of the same name, or the chosen ones at their paths. */
export function payloadOf(data: Data, { items, defaultMode, optional, what }: Choice): Payload {
  const mode = defaultMode ?? DEFAULT_MODE
  if (items === undefined || items.length === 0) return { files: [...data].map(([path, content]) => ({ path, content, mode })) }
  const files: VolumeFile[] = []
  for (const item of items) {
    const content = data.get(item.key ?? '')
    if (content !== undefined) files.push({ path: item.path ?? '', content, mode: item.mode ?? mode })
    else if (optional !== true) return { problem: `${what} references non-existent config key: ${item.key ?? ''}` }
  }
  return { files }
}

export function downwardPayload(
  items: DownwardAPIVolumeFile[] | undefined,
  defaultMode: number | undefined,
  context: VolumeContext,
): Payload {
  const files: VolumeFile[] = []
  for (const { path = '', fieldRef, resourceFieldRef, mode } of items ?? []) {
    const value =
      fieldRef !== undefined
        ? fieldValue(context.pod, fieldRef.fieldPath ?? '')
        : resourceValue(context.pod, resourceFieldRef ?? {}, { node: context.node })
    if ('problem' in value) return value
    files.push({ path, content: encoder.encode(value.value), mode: mode ?? defaultMode ?? DEFAULT_MODE })
  }
  return { files }
}

/** A file may not leave its volume. The API server rejects such paths too; any that got in another way are stopped here. */
export function isClean(path: string): boolean {
  return (
    path !== '' &&
    !path.startsWith('/') &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..') &&
    !path.includes('\0')
  )
}
