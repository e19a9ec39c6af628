/** The volumes of fuses and workers of a ThinRuntime, each with where a container sees it. Pure. */
import path from 'node:path/posix'
import type { Dataset } from '../../../kinds/fluid/index.ts'
import { optionsOfMount } from '../../../kinds/fluid/mount-options.ts'
import { tiersOf } from '../../../kinds/fluid/tiered-store.ts'
import { HOST_VOLUME_OPTION } from '../../../kinds/fluid/well-known.ts'
import type { Volume, VolumeMount } from '../../../kinds/kubernetes/types.ts'
import { volumeName } from '../cache/pod-template.ts'
import { SECRETS_PATH } from '../cache/runtime-config.ts'
import { joinedBy, type ThinSpec } from './spec.ts'

export interface Mounted {
  volume: Volume
  mount: VolumeMount
}

export const isReadOnly = ({ spec }: Dataset): boolean => {
  const modes = spec?.accessModes ?? []
  return modes.length === 0 || modes.includes('ReadOnlyMany')
}

/** Where the fuse mounts, and other pods of the node see it: the directory above the mount itself. */
export function sharedPath(targetPath: string): Mounted {
  const [name, directory] = ['thin-fuse-mount', path.dirname(targetPath)]
  return {
    volume: { name, hostPath: { path: directory, type: 'DirectoryOrCreate' } },
    mount: { name, mountPath: directory, mountPropagation: 'Bidirectional' },
  }
}

/** The first directory of the first level; quotas are the engine's own business. */
export function cacheDirectory({ tieredstore }: ThinSpec): Mounted[] {
  const [tier] = tiersOf(tieredstore?.levels ?? []).tiers
  const directory = tier?.stores[0]?.path ?? ''
  if (tier === undefined || directory === '') return []
  const name = 'cache-dir'
  const volume =
    tier.volume === 'emptyDir'
      ? { name, emptyDir: tier.medium === 'MEM' ? { medium: 'Memory' } : {} }
      : { name, hostPath: { path: directory, type: 'DirectoryOrCreate' } }
  return [{ volume, mount: { name, mountPath: directory } }]
}

/** Secrets of sources: options name the files in them. */
export function secretsOf({ spec }: Dataset): Mounted[] {
  const { sharedEncryptOptions = [], mounts = [] } = spec ?? {}
  const options = [...sharedEncryptOptions, ...mounts.flatMap(({ encryptOptions = [] }) => encryptOptions)]
  const secrets = options.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? '').filter((secret) => secret !== '')
  return [...new Set(secrets)].sort().map((secret) => {
    const name = volumeName(`thin-fuseconfig-${secret}`)
    return {
      volume: { name, secret: { secretName: secret } },
      mount: { name, mountPath: `${SECRETS_PATH}/${secret}`, readOnly: true },
    }
  })
}

type HostVolumes = { volumes: readonly Mounted[]; problem?: undefined } | { problem: string; volumes: readonly [] }

/**
 * Directories of the node that options of mounts name: `/host/path[:/path/in/the/pod]`. Which of them tenants may name is checked
 * at admission. Two mounts may name the same one.
 */
export function hostVolumesOf(dataset: Dataset, others: readonly VolumeMount[] = []): HostVolumes {
  const taken = new Set(others.map(({ mountPath = '' }) => mountPath))
  const byPath = new Map<string, string>()
  for (const mount of dataset.spec?.mounts ?? []) {
    const { options } = optionsOfMount(mount, dataset.spec ?? {})
    const text = Object.hasOwn(options, HOST_VOLUME_OPTION) ? (options[HOST_VOLUME_OPTION] ?? '') : undefined
    if (text === undefined) continue
    const [host = '', inside = host, ...more] = text.split(':')
    if (more.length > 0 || !host.startsWith('/') || !inside.startsWith('/'))
      return invalid(text, 'it is not of the form /host/path or /host/path:/path/in/the/pod')
    if (taken.has(inside) || (byPath.get(inside) ?? host) !== host)
      return invalid(text, `something else is mounted at ${inside} already: choose another path in the pod`)
    byPath.set(inside, host)
  }
  const readOnly = isReadOnly(dataset) ? { readOnly: true } : {}
  return {
    volumes: [...byPath].map(([mountPath, host], i) => {
      const name = `fluid-fuse-hostvolume-${i}`
      return { volume: { name, hostPath: { path: host } }, mount: { name, mountPath, ...readOnly } }
    }),
  }
}

const invalid = (text: string, why: string): HostVolumes => ({
  problem: `invalid dataset option, ${HOST_VOLUME_OPTION}: ${text}: ${why}`,
  volumes: [],
})

/** Those that a component names, and its own. What we mount stays where it is, whatever else wants to be there. */
export function podVolumes(
  { volumes }: ThinSpec,
  named: readonly VolumeMount[] = [],
  ours: readonly Mounted[] = [],
): { volumes: Volume[]; volumeMounts: VolumeMount[] } {
  const names = new Set(named.map(({ name }) => name))
  return {
    volumes: joinedBy(
      ({ name = '' }) => name,
      volumes.filter(({ name }) => names.has(name)),
      ours.map(({ volume }) => volume),
    ),
    volumeMounts: joinedBy(
      ({ mountPath = '' }) => mountPath,
      named,
      ours.map(({ mount }) => mount),
    ),
  }
}
