/**
 * runtime.json: what the programs of a cache are told about their dataset and about each other. Names of its fields are
 * Fluid's. Values of Secrets are never in it: an encrypted option is the path of a file.
 */
import type { Dataset, EncryptOption, Mount } from '../../../kinds/fluid/index.ts'
import { optionsOfMount } from '../../../kinds/fluid/mount-options.ts'
import { pathOfMount } from '../../../kinds/fluid/mount-point.ts'
import { levelConfigs } from './tiers.ts'
import { type Cache, type Component, componentsOf } from './topology.ts'

/** Names of options, separated by commas, that the class alone says: those of runtimes are left out. */
export const FIXED_OPTIONS = 'sluice.dev/fixed-options'
export const SECRETS_PATH = '/etc/fluid/secrets'

type Texts = Readonly<Record<string, string>>

/** As text: the same cache always gives the same. */
export function runtimeConfigText(cache: Cache): string {
  const { dataset, spec, runtimeClass, targetPath } = cache
  const { mounts = [], accessModes = [] } = dataset.spec ?? {}
  const components = Object.fromEntries(
    componentsOf(cache).map((component) => [
      component.type,
      withoutEmpty({
        enabled: true,
        name: component.name,
        options: sorted({
          ...runtimeClass.topology?.[component.type]?.options,
          ...withoutFixed(cache, { ...spec.options, ...component.own.options }),
        }),
        replicas: component.replicas === 0 ? undefined : component.replicas,
        // Always there, as in Fluid: empty without a Service.
        service: { name: component.service ?? '' },
        tieredStoreLevels: levelsOf(component),
      }),
    ]),
  )
  return JSON.stringify(
    withoutEmpty({
      mounts: mounts.map((mount) => mountConfig(mount, dataset)),
      accessModes: accessModes.length === 0 ? ['ReadOnlyMany'] : accessModes,
      targetPath,
      ...components,
    }),
  )
}

/** What the administrator decides, tenants do not: not by an option of the runtime, and not by leaving a component out. */
function withoutFixed({ runtimeClass }: Cache, options: Texts): Texts {
  const fixed = (runtimeClass.metadata.annotations?.[FIXED_OPTIONS] ?? '').split(',').map((name) => name.trim())
  return Object.fromEntries(Object.entries(options).filter(([name]) => !fixed.includes(name)))
}

const levelsOf = ({ levels, type }: Component): unknown[] | undefined =>
  levels.length === 0 || type === 'master' ? undefined : levelConfigs(levels)

function mountConfig(mount: Mount, { spec }: Dataset): Record<string, unknown> {
  const { name, mountPoint, readOnly, shared } = mount
  return withoutEmpty({
    name: name ?? '',
    mountPoint,
    readOnly: readOnly === true ? true : undefined,
    shared: shared === true ? true : undefined,
    path: pathOfMount(mount),
    ...optionsOf(mount, spec),
  })
}

/** Of one key, what the mount says wins over what all mounts share. */
function optionsOf(mount: Mount, spec: Dataset['spec']): { options: Texts; encryptOptions: Texts } {
  const { options, encryptOptions } = optionsOfMount(mount, spec ?? {})
  return { options: sorted(options), encryptOptions: sorted(encryptedPaths(encryptOptions)) }
}

const encryptedPaths = (options: readonly EncryptOption[]): Record<string, string> =>
  Object.fromEntries(
    options.flatMap(({ name, valueFrom }) => {
      const { name: secret, key = '' } = valueFrom?.secretKeyRef ?? { name: '' }
      return secret === '' ? [] : [[name, `${SECRETS_PATH}/${secret}/${key}`]]
    }),
  )

const sorted = (texts: Texts): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))

/** Fields without content are left out. */
function withoutEmpty(fields: Record<string, unknown>): Record<string, unknown> {
  const isEmpty = (value: unknown): boolean =>
    value === undefined ||
    (Array.isArray(value) && value.length === 0) ||
    (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0)
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)))
}
