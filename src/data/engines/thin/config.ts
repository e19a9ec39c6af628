/**
 * config.json: what the client of a file system is told to mount. Names and order of its fields are Fluid's. Values of Secrets are
 * never in it: an encrypted option is the path of a file. Pure; the same runtime always gives the same text.
 */
import type { Mount } from '../../../kinds/fluid/index.ts'
import { optionsOfMount } from '../../../kinds/fluid/mount-options.ts'
import { SECRETS_PATH } from '../cache/runtime-config.ts'
import type { Thin } from './thin.ts'

export function configText({ dataset, runtimeOptions, targetPath }: Thin): string {
  const { mounts = [], accessModes = [] } = dataset.spec ?? {}
  return JSON.stringify({
    mounts: mounts.map((mount) => mountConfig(mount, dataset.spec)),
    targetPath,
    ...(Object.keys(runtimeOptions).length === 0 ? {} : { runtimeOptions: sorted(runtimeOptions) }),
    accessModes: accessModes.length === 0 ? ['ReadOnlyMany'] : accessModes,
  })
}

function mountConfig(mount: Mount, spec: Thin['dataset']['spec']): Record<string, unknown> {
  const { mountPoint, name = '', path = '', readOnly, shared } = mount
  const { options: plain, encryptOptions } = optionsOfMount(mount, spec ?? {})
  const files = encryptOptions.flatMap(({ name: option, valueFrom }): [string, string][] => {
    const { name: secret, key = '' } = valueFrom?.secretKeyRef ?? { name: '' }
    return secret === '' ? [] : [[option, [SECRETS_PATH, secret, key].filter((part) => part !== '').join('/')]]
  })
  const options = sorted({ ...plain, ...Object.fromEntries(files) })
  return {
    mountPoint,
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...(name === '' ? {} : { name }),
    ...(path === '' ? {} : { path }),
    ...(readOnly === true ? { readOnly } : {}),
    ...(shared === true ? { shared } : {}),
  }
}

export const sorted = (texts: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
