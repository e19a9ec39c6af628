/** Mounts of the configuration as inventory and sources take them; where local ones lie in master and worker pods. */
import path from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { EngineOptions } from '../config/engine-options.ts'
import type { MountConfig, RuntimeConfig } from '../config/runtime-config.ts'
import type { InventoryMount } from '../inventory/inventory.ts'
import { isCleanSegment } from '../sources/clean-path.ts'
import { openSource } from '../sources/open.ts'
import type { Source } from '../sources/source.ts'

export interface MountSurroundings {
  clock: Clock
  engine: EngineOptions
  /** `local://` and `pvc://` mounts are mounted at `<directory>/<name of the mount>`. */
  directory: string
}

export function openMount(mount: MountConfig, { clock, engine, directory }: MountSurroundings): Promise<Source> {
  const given = {
    name: mount.name,
    mountPoint: mount.mountPoint,
    options: textsOf(mount.options),
    encryptOptions: textsOf(mount.encryptOptions),
  }
  // A mount without a name is called by its path.
  const name = mount.name.replace(/^\//, '').replaceAll('/', '-') || 'root'
  const mountedAt = () => (isCleanSegment(name) ? path.join(directory, name) : undefined)
  return openSource(given, { clock, allowPrivateAddresses: engine.allowPrivateAddresses, mountedAt })
}

export const inventoryMounts = ({ mounts }: RuntimeConfig, surroundings: MountSurroundings): InventoryMount[] =>
  mounts.map((mount) => ({
    name: mount.name,
    path: mount.path,
    identity: JSON.stringify([mount.mountPoint, [...mount.options].sort(), [...mount.encryptOptions].sort()]),
    open: () => openMount(mount, surroundings),
  }))

/** Without a prototype: names come from tenants. */
const textsOf = (map: ReadonlyMap<string, string>): Record<string, string> => Object.assign(Object.create(null), Object.fromEntries(map))
