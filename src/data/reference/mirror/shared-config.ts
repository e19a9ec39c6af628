/**
 * A configuration of a cache's programs as other namespaces may see it: only what clients need. Options can be credentials, whatever
 * they are called, so all are left out, but for those that the class says itself (everybody may read it) or calls public. Pure.
 */
import { isJsonObject, type JsonObject } from '../../../base/json.ts'
import type { CacheRuntimeClass, Mount } from '../../../kinds/fluid/index.ts'
import { publicMount } from '../../../kinds/fluid/reference.ts'
import { CLASS_ANNOTATIONS } from '../../engines/cache/pod-template.ts'

/** What programs of a cache read about their dataset. */
export const CONFIGURATIONS: ReadonlySet<string> = new Set(['runtime.json', 'config.json'])

const COMPONENTS = ['master', 'worker', 'client'] as const
type ComponentType = (typeof COMPONENTS)[number]

/** Undefined: it cannot be read, and stays where it is. */
export function sharedConfig(text: string, runtimeClass: CacheRuntimeClass | undefined): string | undefined {
  const config = parsedText(text)
  if (!isJsonObject(config)) return undefined
  const { mounts, accessModes, targetPath } = config
  const components = COMPONENTS.flatMap((type) => {
    const component = config[type]
    return isJsonObject(component) ? [[type, sharedComponent(type, component, runtimeClass)]] : []
  })
  const shared = (Array.isArray(mounts) ? mounts : []).flatMap((mount) =>
    isJsonObject(mount) && typeof mount.mountPoint === 'string' ? [publicMount(mount as unknown as Mount)] : [],
  )
  return JSON.stringify({ mounts: shared, accessModes, targetPath, ...Object.fromEntries(components) })
}

/** Where others store is a matter of their nodes. */
function sharedComponent(type: ComponentType, component: JsonObject, runtimeClass: CacheRuntimeClass | undefined): JsonObject {
  const { enabled, name, replicas, service, tieredStoreLevels } = component
  return {
    enabled,
    name,
    options: sharedOptions(type, component.options, runtimeClass),
    replicas,
    service,
    ...(type === 'client' ? { tieredStoreLevels } : {}),
  }
}

function sharedOptions(type: ComponentType, options: unknown, runtimeClass: CacheRuntimeClass | undefined): JsonObject {
  const open = new Set((runtimeClass?.metadata.annotations?.[CLASS_ANNOTATIONS.publicOptions] ?? '').split(',').map((name) => name.trim()))
  const said = runtimeClass?.topology?.[type]?.options ?? {}
  const isPublic = ([name, value]: [string, unknown]): boolean => open.has(name) || (Object.hasOwn(said, name) && said[name] === value)
  return isJsonObject(options) ? Object.fromEntries(Object.entries(options).filter(isPublic)) : {}
}

function parsedText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Engines write JSON; a class may call a file of its own so.
    return undefined
  }
}
