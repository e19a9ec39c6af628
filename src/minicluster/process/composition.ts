/**
 * Which root a container sees, as a plan: a skeleton of directories, links and empty files in the data directory, and what is
 * mounted onto them. The base (this machine's root, or an image's directory) is passed through as far as possible; only a
 * directory that lacks a mount point is taken apart, so that the mount point is created in the skeleton and nothing is
 * created in the base.
 */
import path from 'node:path'
import type { Mount } from '../kubelet/container-machine.ts'

export type EntryKind = 'directory' | 'file' | 'link'

/** Read access to a file system. */
export interface FileView {
  /** Without following a link at the end; undefined when there is nothing. */
  kindOf(file: string): EntryKind | undefined
  linkOf(file: string): string
  /** Names in a directory; none when it cannot be read. */
  namesIn(directory: string): readonly string[]
}

export interface Bind {
  source: string
  /** Path in the container. */
  at: string
  readOnly: boolean
  /** Passed through, and not an error if it is gone by the time it is mounted: directories of a machine change. */
  isOptional?: true
}

export interface Composition {
  /** In order: a parent comes before its children. `like` is a directory of the base whose permissions it takes. */
  directories: readonly { at: string; like?: string }[]
  links: readonly { at: string; target: string }[]
  files: readonly string[]
  binds: readonly Bind[]
  /** Directories to create in volumes, where one volume is mounted inside another. */
  inVolumes: readonly { path: string; kind: 'directory' | 'file' }[]
  /** The working directory, with links resolved. */
  workingDir: string
}

export interface CompositionRequest {
  /** Path of what becomes the root. */
  base: string
  mounts: readonly Mount[]
  /** Must exist in the container; created if it does not. */
  workingDir: string
  /** The container has its own process namespace: /proc is mounted anew. */
  ownProc: boolean
  /** Whether something may be created there: true in the data directory. */
  mayMake(file: string): boolean
  /** Host directories that every root has, whatever is in the base. */
  fromHost: readonly string[]
}

/** What is wrong with the mounts, as a message for users. */
export class CompositionError extends Error {}

type Node =
  | { kind: 'pass'; source: string; entry: 'directory' | 'file'; readOnly: boolean; isVolume: boolean }
  | { kind: 'link'; target: string }
  | { kind: 'made'; entry: 'directory' | 'file'; like?: string; children: Map<string, Node> }

type Made = Extract<Node, { kind: 'made' }>

const MAX_LINKS = 40

export function composeRoot(request: CompositionRequest, view: FileView): Composition {
  const root = takeApart(request.base, view)
  const nested: Bind[] = []
  const inVolumes: { path: string; kind: 'directory' | 'file' }[] = []
  for (const directory of request.fromHost) root.children.set(directory, passed(path.join('/', directory), 'directory'))
  if (request.ownProc) root.children.set('proc', made('directory'))
  for (const mount of fromOutsideIn(request.mounts, root, view)) place(mount, { root, view, request, nested, inVolumes })
  const workingDir = ensureDirectory(request.workingDir, { root, view, request, nested, inVolumes })
  const composition = { directories: [], links: [], files: [], binds: [] }
  write(root, '/', composition)
  return { ...composition, binds: [...composition.binds, ...nested], inVolumes, workingDir }
}

/** By resolved path: what is mounted over a directory comes before what is mounted in it. */
function fromOutsideIn(mounts: readonly Mount[], root: Made, view: FileView): Mount[] {
  const resolved = mounts.map((mount) => {
    const { at, rest } = find(mount.path, root, view)
    return { mount, parts: [...at, ...rest] }
  })
  resolved.sort((a, b) => a.parts.length - b.parts.length || (a.parts.join('/') < b.parts.join('/') ? -1 : 1))
  return resolved.map(({ mount }) => mount)
}

const partsOf = (file: string): string[] => file.split('/').filter((part) => part !== '' && part !== '.')
const made = (entry: 'directory' | 'file', like?: string): Made => ({ kind: 'made', entry, like, children: new Map() })
const passed = (source: string, entry: 'directory' | 'file'): Node => ({ kind: 'pass', source, entry, readOnly: false, isVolume: false })

function takeApart(directory: string, view: FileView): Made {
  const node = made('directory', directory)
  for (const name of view.namesIn(directory)) {
    const source = path.join(directory, name)
    const kind = view.kindOf(source)
    if (kind === 'link') node.children.set(name, { kind: 'link', target: view.linkOf(source) })
    else if (kind !== undefined) node.children.set(name, passed(source, kind))
  }
  return node
}

interface Composing {
  root: Made
  view: FileView
  request: CompositionRequest
  nested: Bind[]
  inVolumes: { path: string; kind: 'directory' | 'file' }[]
}

/** Where a path of the container ends up: a node of the skeleton and the remaining path below it. */
interface Place {
  /** Names of the nodes from the root, links resolved. */
  at: string[]
  /** The last node that exists, and the names below it that have no nodes. */
  node: Node
  rest: string[]
}

/** Follows links of the skeleton; those inside what is passed through are followed by `throughLinks`. */
function find(file: string, root: Made, view: FileView): Place {
  let parts = partsOf(file)
  for (let links = 0; links <= MAX_LINKS; links++) {
    if (parts.includes('..')) throw new CompositionError(`${file} must not hold ".."`)
    const at: string[] = []
    let node: Node = root
    let followed: string[] | undefined
    for (const [i, part] of parts.entries()) {
      if (node.kind !== 'made') break
      const child = node.children.get(part)
      if (child === undefined) break
      if (child.kind === 'link') {
        followed = target(at, child.target, parts.slice(i + 1))
        break
      }
      at.push(part)
      node = child
    }
    if (followed === undefined && node.kind === 'pass') followed = throughLinks(node, at, parts.slice(at.length), view)
    if (followed === undefined) return { at, node, rest: parts.slice(at.length) }
    parts = followed
  }
  throw new CompositionError(`${file} leads through too many links`)
}

const target = (at: readonly string[], link: string, rest: readonly string[]): string[] =>
  partsOf(path.join('/', link.startsWith('/') ? '' : at.join('/'), link, ...rest))

/** The path with its first link resolved; undefined when it has none. */
function throughLinks(
  node: Extract<Node, { kind: 'pass' }>,
  at: readonly string[],
  rest: readonly string[],
  view: FileView,
): string[] | undefined {
  if (node.isVolume) return undefined
  for (let i = 1; i <= rest.length; i++) {
    const kind = view.kindOf(path.join(node.source, ...rest.slice(0, i)))
    if (kind === undefined) return undefined
    if (kind === 'link')
      return target([...at, ...rest.slice(0, i - 1)], view.linkOf(path.join(node.source, ...rest.slice(0, i))), rest.slice(i))
  }
  return undefined
}

/** Like `find`, except that what is mounted onto something passed through is a place of its own. */
function locate(file: string, composing: Composing): Place {
  const found = find(file, composing.root, composing.view)
  const whole = path.join('/', ...found.at, ...found.rest)
  const holders = composing.nested.filter((bind) => whole.startsWith(`${bind.at}/`)).reverse()
  const holder = holders.sort((a, b) => b.at.length - a.at.length)[0]
  if (holder === undefined) return found
  const node: Node = { kind: 'pass', source: holder.source, entry: 'directory', readOnly: holder.readOnly, isVolume: true }
  return { at: partsOf(holder.at), node, rest: partsOf(whole.slice(holder.at.length)) }
}

function place(mount: Mount, composing: Composing): void {
  const { view } = composing
  if (partsOf(mount.path).length === 0) throw new CompositionError('nothing can be mounted at /')
  const kind = view.kindOf(mount.source)
  if (kind === undefined) throw new CompositionError(`${mount.source}, to be mounted at ${mount.path}, is not there`)
  const entry = kind === 'file' ? 'file' : 'directory'
  const bind: Bind = { source: mount.source, at: mount.path, readOnly: mount.readOnly }
  const found = locate(mount.path, composing)
  const { node } = found
  if (node.kind === 'pass' && node.isVolume && found.rest.length > 0) {
    mountInVolume(bind, entry, found, composing)
    return
  }
  if (node.kind === 'pass' && found.rest.length > 0) {
    const existing = view.kindOf(path.join(node.source, ...found.rest))
    if (existing !== undefined) {
      mustFit(mount, entry, existing)
      composing.nested.push({ ...bind, at: path.join('/', ...found.at, ...found.rest) })
      return
    }
  }
  if (found.rest.length === 0) mustFit(mount, entry, node.kind === 'link' ? 'directory' : node.entry)
  const [parent, name] = clearPath(found, composing)
  parent.children.set(name, { kind: 'pass', source: mount.source, entry, readOnly: mount.readOnly, isVolume: true })
}

function mustFit(mount: Mount, entry: 'directory' | 'file', existing: EntryKind): void {
  const there = existing === 'file' ? 'file' : 'directory'
  if (there !== entry) throw new CompositionError(`a ${entry} cannot be mounted at ${mount.path}, where a ${there} is`)
}

/** Takes apart what is in the way, so that the last name of the path can be set. */
function clearPath(found: Place, composing: Composing): [Made, string] {
  const names = [...found.at, ...found.rest]
  let parent = composing.root
  for (const name of names.slice(0, -1)) {
    let child = parent.children.get(name)
    if (child?.kind === 'pass' && child.entry === 'directory') child = takeApart(child.source, composing.view)
    child ??= made('directory')
    if (child.kind !== 'made' || child.entry !== 'directory') throw new CompositionError(`/${names.join('/')} leads through a file`)
    parent.children.set(name, child)
    parent = child
  }
  return [parent, names[names.length - 1] ?? '']
}

/** A volume inside a volume: its mount point is in the other one. */
function mountInVolume(bind: Bind, entry: 'directory' | 'file', found: Place, composing: Composing): void {
  if (found.node.kind !== 'pass') return
  const point = path.join(found.node.source, ...found.rest)
  const existing = composing.view.kindOf(point)
  if (existing === undefined && !composing.request.mayMake(point))
    throw new CompositionError(`${bind.at} lies in ${found.node.source}, where it is missing: make it there`)
  if (existing === 'link') throw new CompositionError(`${bind.at} is a link in ${found.node.source}: nothing is mounted onto links`)
  if (existing === undefined) composing.inVolumes.push({ path: point, kind: entry })
  else mustFit({ ...bind, path: bind.at }, entry, existing)
  composing.nested.push({ ...bind, at: path.join('/', ...found.at, ...found.rest) })
}

/** Returns its path with links resolved. */
function ensureDirectory(directory: string, composing: Composing): string {
  const found = locate(directory, composing)
  const whole = path.join('/', ...found.at, ...found.rest)
  if (found.rest.length === 0) return whole
  if (found.node.kind === 'pass') {
    const point = path.join(found.node.source, ...found.rest)
    if (composing.view.kindOf(point) !== undefined) return whole
    if (found.node.isVolume) {
      if (composing.request.mayMake(point)) composing.inVolumes.push({ path: point, kind: 'directory' })
      return whole
    }
  }
  const [parent, name] = clearPath(found, composing)
  if (!parent.children.has(name)) parent.children.set(name, made('directory'))
  return whole
}

interface Writing {
  directories: { at: string; like?: string }[]
  links: { at: string; target: string }[]
  files: string[]
  binds: Bind[]
}

function write(node: Node, at: string, to: Writing): void {
  if (node.kind === 'link') return void to.links.push({ at, target: node.target })
  if (node.entry === 'file') to.files.push(at)
  else to.directories.push(node.kind === 'made' && node.like !== undefined ? { at, like: node.like } : { at })
  if (node.kind === 'pass')
    to.binds.push({ source: node.source, at, readOnly: node.readOnly, ...(node.isVolume ? {} : { isOptional: true }) })
  else for (const [name, child] of node.children) write(child, path.join(at, name), to)
}
