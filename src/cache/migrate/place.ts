/**
 * `from` and `to` of a migration as JSON: `{"uri": "s3://bucket/data", "options": {…}, "encryptOptions": {"aws.secretKey": "<file>"}}`,
 * `{"uri": "pvc://claim/sub", "path": "/mnt/to", "subPath": "sub"}` or `{"uri": "dataset://namespace/name/sub"}`. Pure.
 */
import { ConfigError, fieldsOf, textMapOf, textOf } from '../config/fields.ts'
import { datasetPath } from '../config/paths.ts'
import { filesOf } from '../config/runtime-config.ts'
import { cleanPath, showName } from '../sources/clean-path.ts'

export interface Place {
  /** As people wrote it; it may hold no credentials. */
  uri: string
  scheme: 'dataset' | 'local' | 'pvc' | 'http' | 's3'
  /** Where a volume is mounted in this pod. */
  path?: string
  /** Below `path`; of a dataset that is not mounted, the path in the dataset. */
  subPath: string
  options: ReadonlyMap<string, string>
  encryptOptions: ReadonlyMap<string, string>
}

const SCHEMES: ReadonlyMap<string, Place['scheme']> = new Map([
  ['dataset', 'dataset'],
  ['local', 'local'],
  ['pvc', 'pvc'],
  ['http', 'http'],
  ['https', 'http'],
  ['s3', 's3'],
  ['s3a', 's3'],
  ['s3n', 's3'],
])

/** Throws ConfigError, which names the field. */
export function placeOf(text: string, where: string): Place {
  const fields = fieldsOf(parsed(text, where), where)
  const uri = textOf(fields, 'uri') ?? ''
  const scheme = SCHEMES.get(/^([a-z][a-z0-9+.-]{0,30}):\/\//i.exec(uri)?.[1]?.toLowerCase() ?? '')
  if (scheme === undefined)
    throw new ConfigError(`${where}.uri: ${showName(uri)} is none of dataset://, local://, pvc://, http://, https:// and s3://`)
  if (/^[^/]*\/\/[^/]*@/.test(uri)) throw new ConfigError(`${where}.uri must not contain credentials: give them as encryptOptions`)
  const path = textOf(fields, 'path')
  if (path !== undefined && !isAbsolute(path)) throw new ConfigError(`${where}.path must be absolute, without . and ..`)
  if (path === undefined && (scheme === 'local' || scheme === 'pvc'))
    throw new ConfigError(`${where}.path is missing: where the volume is mounted in this pod`)
  return {
    uri,
    scheme,
    ...(path === undefined ? {} : { path }),
    subPath: subPathOf(textOf(fields, 'subPath') ?? '', where),
    options: textMapOf(fields, 'options'),
    encryptOptions: filesOf(fields),
  }
}

function subPathOf(text: string, where: string): string {
  const inner = text.replace(/^\//, '').replace(/\/$/, '')
  if (inner !== '' && cleanPath(inner) === undefined) throw new ConfigError(`${where}.subPath: ${showName(text)} is no path of a directory`)
  return inner
}

const isAbsolute = (path: string): boolean => path === '/' || datasetPath(path) === path

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new ConfigError(`${where} is not JSON`)
    throw error
  }
}
