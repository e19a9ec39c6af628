/** Mounts of the configuration as inventory and sources take them; where local ones lie in master and worker pods. */
import path from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { EngineOptions } from '../config/engine-options.ts'
import type { MountConfig, RuntimeConfig } from '../config/runtime-config.ts'
import type { InventoryMount } from '../inventory/inventory.ts'
import { isCleanSegment } from '../sources/clean-path.ts'
import { openSource } from '../sources/open.ts'
import type { Source } from '../sources/source.ts'

export interface MountDeps {
  clock: Clock
  engine: EngineOptions
  /** `local://` and `pvc://` mounts are mounted at `<directory>/<name of the mount>`. */
  directory: string
}

function openMount(mount: MountConfig, { clock, engine, directory }: MountDeps): Promise<Source> {
  const given = {
    name: mount.name,
    mountPoint: mount.mountPoint,
    options: textsOf(mount.options),
    encryptOptions: textsOf(mount.encryptOptions),
  }
  return openSource(given, { clock, allowPrivateAddresses: engine.allowPrivateAddresses, mountedAt: () => mountedAt(mount, directory) })
}

/** Where a `local://` or `pvc://` mount lies in this pod. A mount without a name is called by its path. */
export function mountedAt({ name: given }: Pick<MountConfig, 'name'>, directory: string): string | undefined {
  const name = given.replace(/^\//, '').replaceAll('/', '-') || 'root'
  return isCleanSegment(name) ? path.join(directory, name) : undefined
}

export const inventoryMounts = ({ mounts }: RuntimeConfig, deps: MountDeps): InventoryMount[] =>
  mounts.map((mount) => ({
    name: mount.name,
    path: mount.path,
    identity: identityOf(mount),
    open: () => openMount(mount, deps),
  }))

/** The same text means the same place and the same way to read it. */
const identityOf = ({ mountPoint, options, encryptOptions }: MountConfig): string =>
  JSON.stringify([mountPoint, [...options].sort(), [...encryptOptions].sort()])

export interface OpenSources {
  of(mount: MountConfig, deps: MountDeps): Promise<Source>
  close(): Promise<void>
}

/** Sources of mounts, each opened once and again only when its mount was written differently. One that was replaced may still be read. */
export function createOpenSources(): OpenSources {
  const opened = new Map<string, { identity: string; source: Promise<Source> }>()
  const replaced: Promise<Source>[] = []
  return {
    of(mount, deps) {
      const identity = identityOf(mount)
      const known = opened.get(mount.name)
      if (known?.identity === identity) return known.source
      if (known !== undefined) replaced.push(known.source)
      const source = openMount(mount, deps)
      opened.set(mount.name, { identity, source })
      // What could not be opened is tried again.
      source.catch(() => opened.get(mount.name)?.source === source && opened.delete(mount.name))
      return source
    },
    async close() {
      const all = await Promise.allSettled([...replaced, ...[...opened.values()].map(({ source }) => source)])
      for (const result of all) if (result.status === 'fulfilled') await result.value.close()
    },
  }
}

/** Without a prototype: names come from tenants. */
const textsOf = (map: ReadonlyMap<string, string>): Record<string, string> => Object.assign(Object.create(null), Object.fromEntries(map))
