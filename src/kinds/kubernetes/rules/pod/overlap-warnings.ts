/** Files of one volume that hide each other: the same path twice, or one below another. */
import { goQuote } from '../../../../kube/go-print.ts'
import { type Fields, maybeObject, objects, string } from '../fields.ts'

interface Located {
  path: string
  source: string
}

export function overlapWarnings(spec: Fields): string[] {
  return objects(spec, 'volumes').flatMap((volume) => {
    const name = string(volume, 'name')
    const warn = (kind: string, overlap: string) => `volume ${goQuote(name)} (${kind}): overlapping paths: ${overlap}`
    const [configMap, secret, downward] = [
      maybeObject(volume, 'configMap'),
      maybeObject(volume, 'secret'),
      maybeObject(volume, 'downwardAPI'),
    ]
    return [
      ...overlaps(filesOf(configMap, '')).map((o) => warn(`ConfigMap ${goQuote(string(configMap, 'name'))}`, o)),
      ...overlaps(filesOf(secret, '')).map((o) => warn(`Secret ${goQuote(string(secret, 'secretName'))}`, o)),
      ...overlaps(filesOf(downward, '')).map((o) => warn('DownwardAPI', o)),
      ...projectedWarnings(volume, name, warn),
    ]
  })
}

function projectedWarnings(volume: Fields, name: string, warn: (kind: string, overlap: string) => string): string[] {
  const projected = maybeObject(volume, 'projected')
  if (projected === undefined) return []
  const empty: string[] = []
  const files = objects(projected, 'sources').flatMap((source) => {
    if (Object.keys(source).length === 0) empty.push(`volume ${goQuote(name)} (Projected) has no sources provided`)
    return projectedFiles(source)
  })
  return [...empty, ...overlaps(files).map((overlap) => warn('Projected', overlap))]
}

function projectedFiles(source: Fields): Located[] {
  const [configMap, secret, downward] = [
    maybeObject(source, 'configMap'),
    maybeObject(source, 'secret'),
    maybeObject(source, 'downwardAPI'),
  ]
  const token = maybeObject(source, 'serviceAccountToken')
  if (objects(configMap, 'items').length > 0) return filesOf(configMap, `ConfigMap ${goQuote(string(configMap, 'name'))}`)
  if (objects(secret, 'items').length > 0) return filesOf(secret, `Secret ${goQuote(string(secret, 'name'))}`)
  if (objects(downward, 'items').length > 0) return filesOf(downward, 'DownwardAPI')
  return token === undefined ? [] : [{ path: string(token, 'path'), source: 'ServiceAccountToken' }]
}

const filesOf = (source: Fields | undefined, name: string): Located[] =>
  objects(source, 'items').map((item) => ({ path: string(item, 'path'), source: name }))

const shown = ({ path, source }: Located): string => (source === '' ? goQuote(path) : `${goQuote(path)} (${source})`)

/** Every file is compared with every other; beyond this number the warning is not worth the time. */
const MAX_FILES = 500

function overlaps(all: readonly Located[]): string[] {
  const files = all.slice(0, MAX_FILES)
  const seen: Located[] = []
  return files.flatMap((file) => {
    const needle = { ...file, path: file.path.replace(/\/+$/, '') }
    const found = needle.path === '' ? [] : seen.filter((other) => other.path !== '' && isOverlap(other.path, needle.path))
    seen.push(needle)
    return found.map((other) => `${shown(needle)} with ${shown(other)}`)
  })
}

const isOverlap = (a: string, b: string): boolean => `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`)
