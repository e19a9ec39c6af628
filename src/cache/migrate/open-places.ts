/** Places of a migration → what reads and what writes. A dataset is read through its cache, and written where its mount leads. */
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { ConfigError } from '../config/fields.ts'
import { datasetPath, isBelow } from '../config/paths.ts'
import type { MountConfig } from '../config/runtime-config.ts'
import { showName } from '../sources/clean-path.ts'
import { NotInside, resolveInside } from '../sources/local/inside.ts'
import { openSource } from '../sources/open.ts'
import { createMountOptions } from '../sources/options.ts'
import { s3PlaceOf } from '../sources/s3/settings.ts'
import { type Source, SourceRefused } from '../sources/source.ts'
import { createWebClient } from '../sources/web/client.ts'
import { openLocalTarget } from '../targets/local.ts'
import { createS3Target } from '../targets/s3/s3.ts'
import { type Target, TargetRefused } from '../targets/target.ts'
import type { Place } from './place.ts'

export interface PlaceDeps {
  clock: Clock
  log: Log
  allowPrivateAddresses: boolean
  /** Every file is read again after it was written. */
  checks: boolean
  /** Opens a path of the dataset through its cache. */
  openCache(subPath: string): Promise<Source>
  /** The mounts of the dataset that is written. */
  mounts(): readonly MountConfig[]
  /** Where a mount lies in this pod, if it is a volume. */
  mountedAt(mount: MountConfig): string | undefined
}

/** An end of a migration, with what tells whether two of them overlap. */
export interface Opened<T> {
  it: T
  /** Ends with a slash: what begins with it lies within. Undefined: it can overlap with nothing. */
  identity?: string
}

export async function openFrom(place: Place, deps: PlaceDeps): Promise<Opened<Source>> {
  const { scheme, uri, subPath } = place
  if (place.path !== undefined) {
    const root = await rootOf(place.path, subPath, uri)
    return { it: await sourceOf(place, deps, root), identity: fileIdentity(root) }
  }
  if (scheme === 'dataset') return { it: await deps.openCache(datasetPath(`/${subPath}`) ?? '/') }
  return { it: await sourceOf(place, deps, undefined), ...(scheme === 's3' ? { identity: await s3Identity(place) } : {}) }
}

export async function openTo(place: Place, deps: PlaceDeps): Promise<Opened<Target>> {
  if (place.scheme === 'http')
    throw new ConfigError(`${showName(place.uri)} cannot be written: migrate to dataset://, local://, pvc:// or s3://`)
  if (place.path !== undefined) return openDirectory(place, deps)
  if (place.scheme === 's3') return openBucket(place, deps)
  return openDatasetMount(place, deps)
}

const sourceOf = ({ uri, options, encryptOptions }: Place, { clock, allowPrivateAddresses }: PlaceDeps, root: string | undefined) =>
  openSource(
    {
      name: 'from',
      mountPoint: root === undefined ? uri : `local://${root}`,
      options: textsOf(options),
      encryptOptions: textsOf(encryptOptions),
    },
    { clock, allowPrivateAddresses, mountedAt: () => root },
  )

/** What is below was written by somebody else: links there must not lead out. */
async function rootOf(mounted: string, subPath: string, uri: string): Promise<string> {
  try {
    return await resolveInside(await realpath(mounted), subPath)
  } catch (error) {
    const reason = error instanceof NotInside ? error.message : (error as NodeJS.ErrnoException).code
    throw new SourceRefused(
      `${showName(uri)} cannot be read (${reason ?? 'unknown error'}): check that it is there, and mounted into this pod`,
    )
  }
}

async function openDirectory({ path: mounted = '', subPath, uri }: Place, { checks }: PlaceDeps): Promise<Opened<Target>> {
  const it = await openLocalTarget({ shown: showName(uri), path: mounted, below: subPath, checks })
  return { it, identity: fileIdentity(await realpath(path.join(mounted, subPath))) }
}

async function openBucket(place: Place, { clock, log, allowPrivateAddresses }: PlaceDeps): Promise<Opened<Target>> {
  const options = createMountOptions({ options: textsOf(place.options), encryptOptions: textsOf(place.encryptOptions) })
  const bucket = await s3PlaceOf(place.uri, options)
  const client = createWebClient({ clock, allowPrivateAddresses })
  const it = createS3Target({ place: bucket, options, client, clock, log, shown: showName(place.uri) })
  return { it, identity: `${bucket.base.href}${bucket.prefix}` }
}

async function openDatasetMount(place: Place, deps: PlaceDeps): Promise<Opened<Target>> {
  const wanted = datasetPath(`/${place.subPath}`) ?? '/'
  const mount = mountFor(wanted, deps.mounts(), place.uri)
  const below = wanted.slice(mount.path === '/' ? 1 : mount.path.length + 1)
  const scheme = /^[a-z0-9]+/i.exec(mount.mountPoint)?.[0].toLowerCase() ?? ''
  if (/^s3[an]?$/.test(scheme)) {
    const uri = below === '' ? mount.mountPoint : `${mount.mountPoint.replace(/\/+$/, '')}/${below}`
    return openBucket({ ...place, uri, options: mount.options, encryptOptions: mount.encryptOptions }, deps)
  }
  const mounted = scheme === 'local' || scheme === 'pvc' ? deps.mountedAt(mount) : undefined
  if (mounted === undefined)
    throw new ConfigError(`${showName(place.uri)} leads to ${scheme}://, which cannot be written: use a mount of local://, pvc:// or s3://`)
  return openDirectory({ ...place, path: mounted, subPath: below }, deps)
}

function mountFor(wanted: string, mounts: readonly MountConfig[], uri: string): MountConfig {
  const [mount] = mounts.filter(({ path: at }) => isBelow(wanted, at)).sort((a, b) => b.path.length - a.path.length)
  const shown = showName(uri)
  if (mount === undefined)
    throw new ConfigError(`${shown} is in no mount of the dataset: they are ${mounts.map(({ path: at }) => at).join(', ')}`)
  if (mount.isReadOnly) throw new TargetRefused(`the mount at ${mount.path} is read-only`)
  const inner = mounts.find((other) => other !== mount && isBelow(other.path, wanted))
  if (inner !== undefined) throw new ConfigError(`${shown} has another mount below it, at ${inner.path}: migrate into one of them`)
  return mount
}

const fileIdentity = (root: string): string => `file:${root.endsWith('/') ? root : `${root}/`}`

async function s3Identity({ uri, options, encryptOptions }: Place): Promise<string> {
  const place = await s3PlaceOf(uri, createMountOptions({ options: textsOf(options), encryptOptions: textsOf(encryptOptions) }))
  return `${place.base.href}${place.prefix}`
}

/** A migration into its own source would never end. */
export function assertApart(from: Opened<Source>, to: Opened<Target>): void {
  const [a, b] = [from.identity, to.identity]
  if (a !== undefined && b !== undefined && (a.startsWith(b) || b.startsWith(a)))
    throw new ConfigError('source and target lie within each other: choose places apart')
}

/** Without a prototype: names come from tenants. */
const textsOf = (map: ReadonlyMap<string, string>): Record<string, string> => Object.assign(Object.create(null), Object.fromEntries(map))
