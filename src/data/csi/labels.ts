/** The label of nodes that need a client of a dataset, which its DaemonSet selects. Pure. */
import { isJsonObject } from '../../base/json.ts'
import { CacheRuntime, runtimeKinds } from '../../kinds/fluid/index.ts'
import { THIN_RUNTIME_PROFILES } from '../../kinds/fluid/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { checkQualifiedName } from '../../kube/names.ts'
import type { CsiLabels, CsiReader, CsiVolume } from '../../runtime/seams/csi-driver.ts'

const PREFIX = 'fluid.io/f-'

const attributeOf = ({ attributes }: CsiVolume, key: string): string => (Object.hasOwn(attributes, key) ? (attributes[key] ?? '') : '')

export const fuseLabels: CsiLabels = {
  of(volume) {
    const key = attributeOf(volume, 'mount_pod_node_selector_key')
    // Nobody labels nodes with something else through a volume.
    return key.startsWith(PREFIX) && checkQualifiedName(key).length === 0 ? { [key]: 'true' } : {}
  },
  owns: (key) => key.startsWith(PREFIX),
  reads: [...runtimeKinds.map(({ resource }) => resource), THIN_RUNTIME_PROFILES],
  /** OnDemand: with the last pod. Otherwise the client stays, with what it holds, as long as its runtime. */
  areDropped(volume, read) {
    const [namespace, name] = [attributeOf(volume, 'runtime_namespace'), attributeOf(volume, 'runtime_name')]
    const found = runtimeKinds.flatMap(({ resource }) => {
      const runtime = read<KubeObject>(resource, namespace, name)
      return runtime === undefined ? [] : [policyOf(runtime) ?? policyOfProfile(runtime, read)]
    })
    return found.every((policy) => policy === 'OnDemand')
  },
}

function policyOf({ kind, spec }: KubeObject): unknown {
  const part = kind === CacheRuntime.resource.kind ? 'client' : 'fuse'
  const component = isJsonObject(spec) && Object.hasOwn(spec, part) ? spec[part] : undefined
  return isJsonObject(component) && Object.hasOwn(component, 'cleanPolicy') ? component.cleanPolicy : undefined
}

/** Of a ThinRuntime that does not say it itself. */
function policyOfProfile({ spec }: KubeObject, read: CsiReader): unknown {
  const name = isJsonObject(spec) && Object.hasOwn(spec, 'profileName') ? spec.profileName : undefined
  const profile = typeof name === 'string' && name !== '' ? read<KubeObject>(THIN_RUNTIME_PROFILES, '', name) : undefined
  return profile === undefined ? undefined : policyOf(profile)
}
