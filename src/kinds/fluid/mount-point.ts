/**
 * Where the data of a mount is and where it appears. Schemes that Fluid itself interprets are taken apart; any other text is left
 * to the engine, which knows whether it can read it: ThinRuntimes mount what has no scheme at all.
 */
import { checkDns1123Label, checkDns1123Subdomain } from '../../kube/names.ts'
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'
import { quoted } from '../volcano/annotations.ts'
import type { Mount } from './parts.ts'
import { cleanPath, hasControlCharacters, LONGEST_PATH, pathProblem } from './paths.ts'

export type MountPoint =
  /** A directory of the node, absolute and clean. */
  | { kind: 'local'; path: string }
  /** A claim of the dataset's namespace. A sub path is clean and relative; empty: everything. */
  | { kind: 'pvc'; claim: string; subPath: string }
  | { kind: 'dataset'; namespace: string; name: string; subPath: string }
  /** The prefix is as written, without the slash before it. */
  | { kind: 's3'; bucket: string; prefix: string }
  | { kind: 'web'; url: string }
  /** The scheme in lower case; empty for a text without one. */
  | { kind: 'other'; scheme: string }

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is

export function parseMountPoint(text: string): Parsed<MountPoint> {
  if (text.length > LONGEST_PATH) return unparsed(`${quoted(text)} has more than ${LONGEST_PATH} characters: shorten it`)
  if (hasControlCharacters(text)) return unparsed(`${quoted(text)} contains a control character: remove it`)
  if (text.trim() !== text || text === '') return unparsed(`${quoted(text)} begins or ends with white space: remove it`)
  const [, scheme = '', rest = ''] = SCHEME.exec(text) ?? []
  const read = READERS.get(scheme.toLowerCase())
  return read === undefined ? parsed({ kind: 'other', scheme: scheme.toLowerCase() }) : read(rest, text)
}

const READERS: ReadonlyMap<string, (rest: string, text: string) => Parsed<MountPoint>> = new Map([
  ['local', readLocal],
  ['pvc', readClaim],
  ['dataset', readDataset],
  ['s3', readBucket],
  ['s3a', readBucket],
  ['s3n', readBucket],
  ['http', readWeb],
  ['https', readWeb],
])

function readLocal(rest: string, text: string): Parsed<MountPoint> {
  if (!rest.startsWith('/'))
    return unparsed(`${quoted(text)} is not absolute: write local:/// and the path, for example local:///data/images`)
  return withPath(rest, () => ({ kind: 'local', path: cleanPath(rest) }))
}

function readClaim(rest: string, text: string): Parsed<MountPoint> {
  const [claim, subPath] = cut(rest)
  if (checkDns1123Subdomain(claim).length > 0)
    return unparsed(
      `${quoted(text)} names no claim: write pvc:// and the name of a claim of this namespace, for example pvc://images/train`,
    )
  return withPath(subPath, () => ({ kind: 'pvc', claim, subPath: relativePath(subPath) }))
}

function readDataset(rest: string, text: string): Parsed<MountPoint> {
  const [namespace, path] = cut(rest)
  const [name, subPath] = cut(path)
  if (checkDns1123Label(namespace).length > 0 || checkDns1123Subdomain(name).length > 0)
    return unparsed(`${quoted(text)} names no dataset: write dataset://, its namespace and its name, for example dataset://data/images`)
  return withPath(subPath, () => ({ kind: 'dataset', namespace, name, subPath: relativePath(subPath) }))
}

/** Keys may contain `..` and double slashes: they are no directories. */
function readBucket(rest: string, text: string): Parsed<MountPoint> {
  const [bucket, prefix] = cut(rest)
  return bucket === ''
    ? unparsed(`${quoted(text)} names no bucket: write s3://, the bucket and a prefix, for example s3://lake/images`)
    : parsed({ kind: 's3', bucket, prefix })
}

function readWeb(_: string, text: string): Parsed<MountPoint> {
  const isUrl = URL.canParse(text) && new URL(text).hostname !== ''
  return isUrl
    ? parsed({ kind: 'web', url: text })
    : unparsed(`${quoted(text)} is no address: write for example https://example.com/images`)
}

function withPath(path: string, made: () => MountPoint): Parsed<MountPoint> {
  const problem = pathProblem(path)
  return problem === undefined ? parsed(made()) : unparsed(problem)
}

const relativePath = (path: string): string => cleanPath(`/${path}`).slice(1)

/** Before and after the first slash; nothing is left out but that slash. */
function cut(text: string): [string, string] {
  const slash = text.indexOf('/')
  return slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)]
}

/** Native mounts are directories that pods mount themselves; no engine has to mount them. */
export const isNative = ({ mountPoint }: Pick<Mount, 'mountPoint'>): boolean => /^(local|pvc):\/\//i.test(mountPoint)

/** Where a mount appears in its dataset: at its path if that is absolute, otherwise below its name. */
export const pathOfMount = ({ path = '', name = '' }: Pick<Mount, 'path' | 'name'>): string =>
  path.startsWith('/') ? cleanPath(path) : cleanPath(`/${name}`)
