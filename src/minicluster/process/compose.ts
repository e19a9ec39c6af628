/** Carries out a composition: skeleton and mount table in the run's directory. Elsewhere only volumes are written to. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import type { RunSpec } from '../kubelet/container-machine.ts'
import { type Composition, CompositionError, composeRoot, type FileView } from './composition.ts'
import { mountTable, parseMountInfo } from './mount-table.ts'
import type { Namespaces } from './namespaces.ts'
import { removeTreeSync } from './remove-tree.ts'

export interface Composed {
  root: string
  table: string
  workingDir: string
}

export interface ComposeOptions {
  spec: RunSpec
  namespaces: Namespaces
  /** Of the run. */
  directory: string
  /** What Sluice owns, links resolved. */
  dataDirectory: string
  workingDir: string
}

const view: FileView = {
  kindOf(file) {
    const stat = lstatSync(file, { throwIfNoEntry: false })
    if (stat === undefined) return undefined
    return stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'directory' : 'file'
  },
  linkOf: (file) => readlinkSync(file),
  namesIn(directory) {
    try {
      return readdirSync(directory).sort()
    } catch {
      return []
    }
  },
}

/** An image has its own root, but neither devices nor kernel file systems, and this machine's host names apply. */
const IMAGE_FROM_HOST = ['dev', 'sys', 'proc']
const LAYERS = ['upper', 'work', 'layer']
const NETWORK_FILES = ['/etc/hosts', '/etc/resolv.conf']

export function compose(options: ComposeOptions): Composed {
  const { spec, namespaces, directory, dataDirectory } = options
  const mounts = spec.mounts.map((mount) => ({ ...mount, source: resolvedSource(mount.source, dataDirectory) }))
  const isInside = (file: string): boolean => file.startsWith(`${dataDirectory}/`)
  const request = { mounts, workingDir: options.workingDir, ownProc: namespaces.processes, mayMake: isInside }
  const root = path.join(directory, 'root')
  for (const name of ['root', ...LAYERS]) removeTreeSync(path.join(directory, name))
  mkdirSync(root)
  const { composition, first } =
    spec.imageRoot === undefined
      ? { composition: composeRoot({ ...request, base: '/', fromHost: [] }, view), first: '' }
      : imageComposition(spec.imageRoot, options, request)
  for (const { path: made, kind } of composition.inVolumes) {
    if (kind === 'directory') mkdirSync(made, { recursive: true })
    else {
      mkdirSync(path.dirname(made), { recursive: true })
      writeFileSync(made, '', { flag: 'a' })
    }
  }
  makeSkeleton(root, composition)
  const table = path.join(directory, 'mounts')
  const flags = namespaces.isUnprivileged ? parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8')) : new Map()
  writeFileSync(table, first + mountTable(root, composition.binds, { ownProc: namespaces.processes, flags }))
  return { root, table, workingDir: composition.workingDir }
}

type Request = Omit<Parameters<typeof composeRoot>[0], 'base' | 'fromHost'>

/** If possible, what the container writes stays in the run's directory; otherwise it is written into the image's directory. */
function imageComposition(image: string, options: ComposeOptions, request: Request): { composition: Composition; first: string } {
  const base = realpathSync(image)
  const network = NETWORK_FILES.filter((file) => view.kindOf(file) !== undefined).map((file) => ({
    source: realpathSync(file),
    path: file,
    readOnly: true,
  }))
  const known = new Set(request.mounts.map((mount) => path.normalize(mount.path)))
  const mounts = [...request.mounts, ...network.filter((mount) => !known.has(mount.path))]
  const fromHost = IMAGE_FROM_HOST.filter((name) => name !== 'proc' || !request.ownProc)
  if (!options.namespaces.overlay || /[,:\\"\s]/.test(base + options.directory))
    return { composition: composeRoot({ ...request, mounts, base, fromHost }, view), first: '' }
  const [upper, work, layer] = LAYERS.map((name) => path.join(options.directory, name))
  if (upper === undefined || work === undefined || layer === undefined) throw new CompositionError('the image has no place')
  for (const name of [upper, work, layer]) mkdirSync(name)
  // The image is seen through its overlay, which is mounted first; the composition is planned on the image itself.
  const composition = composeRoot({ ...request, mounts, base, fromHost }, view)
  const through = (source: string): string => (source.startsWith(`${base}/`) ? layer + source.slice(base.length) : source)
  const isMount = new Set(mounts.map((mount) => mount.source))
  const binds = composition.binds.map((bind) => (isMount.has(bind.source) ? bind : { ...bind, source: through(bind.source) }))
  return {
    composition: { ...composition, binds },
    first: `overlay ${layer} overlay lowerdir=${base},upperdir=${upper},workdir=${work} 0 0\n`,
  }
}

/** A program that writes into a volume must not choose what is mounted from it: below our directory no link is followed. */
function resolvedSource(source: string, dataDirectory: string): string {
  let real: string
  try {
    real = realpathSync(source)
  } catch {
    throw new CompositionError(`${source} is not there`)
  }
  const parent = path.resolve(source)
  const isOurs = parent.startsWith(`${dataDirectory}/`)
  if (isOurs && real !== parent) throw new CompositionError(`${source} leads out of its volume by a link`)
  return real
}

function makeSkeleton(root: string, composition: Composition): void {
  const inRoot = (at: string): string => path.join(root, at)
  for (const { at } of composition.directories) if (at !== '/') mkdirSync(inRoot(at), { mode: 0o755 })
  for (const { at, target } of composition.links) symlinkSync(target, inRoot(at))
  for (const at of composition.files) writeFileSync(inRoot(at), '', { mode: 0o644 })
  // Last, and from the inside out: some directories may not be writable for us.
  for (const { at, like } of [...composition.directories].reverse())
    chmodSync(inRoot(at), like === undefined ? 0o755 : (statSync(like).mode & 0o7777) | 0o700)
}
