/** Mounts of runtime.json as the inventory takes them. */
import { createHash } from 'node:crypto'
import { showName } from '../sources/clean-path.ts'
import { type MountConfig, openSource, type SourceDeps } from '../sources/open.ts'
import { SourceRefused } from '../sources/source.ts'
import type { InventoryMount } from './inventory.ts'
import { cleanMountPath } from './mount-paths.ts'

export interface PlacedMount extends MountConfig {
  /** Absent: `/` and the name, as Fluid does. */
  path?: string
}

export function inventoryMountOf(mount: PlacedMount, deps: SourceDeps): InventoryMount {
  const { name, mountPoint, path, options = {}, encryptOptions = {} } = mount
  const place = cleanMountPath(path === undefined || path === '' ? `/${name}` : path)
  // Names of options may be told, values may be credentials: only their hash is kept.
  const parts = [mountPoint, sorted(options), sorted(encryptOptions), deps.mountedAt(mount) ?? null]
  return {
    name,
    path: place ?? '/',
    identity: createHash('sha256').update(JSON.stringify(parts)).digest('hex'),
    async open() {
      if (place === undefined)
        throw new SourceRefused(`the mount path ${showName(path ?? name)} is not absolute and clean: correct it in the Dataset`)
      return openSource(mount, deps)
    },
  }
}

const sorted = (options: Readonly<Record<string, string>>) => Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))
