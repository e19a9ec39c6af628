/**
 * A mount of runtime.json → its source, or SourceRefused with the reason and what to do. Nothing is asked of a server
 * here: a source that cannot be reached fails when it is listed or read.
 */
import path from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { showName } from './clean-path.ts'
import { createHttpSource } from './http.ts'
import type { WebTimes } from './limits.ts'
import { createLocalSource } from './local/local.ts'
import { createMountOptions, type GivenOptions } from './options.ts'
import { createS3Source } from './s3/s3.ts'
import { s3PlaceOf } from './s3/settings.ts'
import { type Source, SourceRefused } from './source.ts'
import type { Resolve } from './web/addresses.ts'
import { createWebClient } from './web/client.ts'

/** As runtime.json has it. */
export interface MountConfig extends GivenOptions {
  name: string
  mountPoint: string
}

export interface SourceDeps {
  clock: Clock
  /** Of the administrator, not of whoever wrote the mount. */
  allowPrivateAddresses: boolean
  /** Where `local://` and `pvc://` mounts lie in this program's file system: absolute. Undefined: they are not there. */
  mountedAt(mount: MountConfig): string | undefined
  /** For tests. */
  resolve?: Resolve
  times?: WebTimes
}

type Open = (mount: MountConfig, deps: SourceDeps) => Source | Promise<Source>

const OPENERS: Readonly<Record<string, Open>> = {
  local: openLocal,
  pvc: openLocal,
  http: openHttp,
  https: openHttp,
  s3: openS3,
  s3a: openS3,
  s3n: openS3,
}

export async function openSource(mount: MountConfig, deps: SourceDeps): Promise<Source> {
  const [, scheme = ''] = /^([a-z][a-z0-9+.-]{0,30}):\/\//i.exec(mount.mountPoint) ?? []
  const known = scheme.toLowerCase()
  const open = Object.hasOwn(OPENERS, known) ? OPENERS[known] : undefined
  if (open !== undefined) return open(mount, deps)
  const shown = scheme === '' ? showName(mount.mountPoint) : `${known}://`
  // What to do about each scheme is said before any pod is made.
  throw new SourceRefused(`${shown} cannot be read by this cache: mount local://, pvc://, http://, https:// or s3://`)
}

function openLocal(mount: MountConfig, { mountedAt }: SourceDeps): Source {
  const shown = showName(mount.mountPoint)
  const place = mountedAt(mount)
  if (place === undefined) throw new SourceRefused(`${shown} is not mounted into this pod: check the volume of the runtime`)
  if (!path.isAbsolute(place)) throw new SourceRefused(`${shown} is mounted at a path that is not absolute`)
  return createLocalSource({ mountPoint: shown, path: path.normalize(place) })
}

function openHttp(mount: MountConfig, deps: SourceDeps): Source {
  const url = URL.canParse(mount.mountPoint) ? new URL(mount.mountPoint) : undefined
  if (url === undefined) throw new SourceRefused(`${showName(mount.mountPoint)} is no URL`)
  if (url.username !== '' || url.password !== '')
    throw new SourceRefused('a mount point must not contain credentials: everybody can read it')
  if (url.search !== '') throw new SourceRefused('a mount point over HTTP must not contain a query: files below it would have none')
  url.hash = ''
  return createHttpSource({ mountPoint: url, client: createWebClient(deps) })
}

async function openS3(mount: MountConfig, deps: SourceDeps): Promise<Source> {
  const options = createMountOptions(mount)
  const place = await s3PlaceOf(mount.mountPoint, options)
  return createS3Source({ place, options, client: createWebClient(deps), clock: deps.clock })
}
