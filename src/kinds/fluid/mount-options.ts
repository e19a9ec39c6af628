/** The options of a mount with those that all mounts of the dataset share: what the mount says itself wins, however it says it. */
import type { DatasetSpec } from './dataset.ts'
import type { EncryptOption, Mount } from './parts.ts'

export interface MountOptions {
  options: Readonly<Record<string, string>>
  encryptOptions: readonly EncryptOption[]
}

export function optionsOfMount(mount: Mount, spec: Pick<DatasetSpec, 'sharedOptions' | 'sharedEncryptOptions'>): MountOptions {
  const { options = {}, encryptOptions = [] } = mount
  const own = new Set([...Object.keys(options), ...encryptOptions.map(({ name }) => name)])
  const shared = Object.entries(spec.sharedOptions ?? {}).filter(([name]) => !own.has(name))
  return {
    options: Object.fromEntries([...shared, ...Object.entries(options)]),
    encryptOptions: [...(spec.sharedEncryptOptions ?? []).filter(({ name }) => !own.has(name)), ...encryptOptions],
  }
}
