/**
 * runtime.json: what the programs of a cache are told about their dataset and about each other. Names of its fields are
 * Fluid's. Values of Secrets are never in it: an encrypted option is the path of a file.
 */
import type { Dataset, EncryptOption, Mount } from '../../../kinds/fluid/index.ts'
import { levelConfigs } from './tiers.ts'
import { type Cache, type Component, componentsOf } from './topology.ts'

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
        options: sorted({ ...runtimeClass.topology?.[component.type]?.options, ...spec.options, ...component.own.options }),
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

const levelsOf = ({ levels, type }: Component): unknown[] | undefined =>
  levels.length === 0 || type === 'master' ? undefined : levelConfigs(levels)

function mountConfig(mount: Mount, { spec }: Dataset): Record<string, unknown> {
  const { name, mountPoint, readOnly, shared } = mount
  return withoutEmpty({
    name: name ?? '',
    mountPoint,
    readOnly: readOnly === true ? true : undefined,
    shared: shared === true ? true : undefined,
    path: mountPath(mount),
    ...optionsOf(mount, spec),
  })
}

/** Where a mount appears in the dataset. */
export const mountPath = ({ name = '', path = '' }: Pick<Mount, 'name' | 'path'>): string => (path.startsWith('/') ? path : `/${name}`)

/** Options of the mount win over those that all mounts share; of one key, the encrypted one is told. */
function optionsOf(mount: Mount, spec: Dataset['spec']): { options: Texts; encryptOptions: Texts } {
  const encryptOptions = { ...encryptedPaths(spec?.sharedEncryptOptions), ...encryptedPaths(mount.encryptOptions) }
  const shared = Object.entries(spec?.sharedOptions ?? {}).filter(([key]) => !Object.hasOwn(encryptOptions, key))
  const own = Object.entries(mount.options ?? {})
  for (const [key] of own) if (!hasOption(mount.encryptOptions, key)) delete encryptOptions[key]
  return { options: sorted(Object.fromEntries([...shared, ...own])), encryptOptions: sorted(encryptOptions) }
}

const hasOption = (options: readonly EncryptOption[] | undefined, key: string): boolean => (options ?? []).some(({ name }) => name === key)

const encryptedPaths = (options: readonly EncryptOption[] | undefined): Record<string, string> =>
  Object.fromEntries(
    (options ?? []).flatMap(({ name, valueFrom }) => {
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
