/**
 * Directories, claims and Secrets of mounts are volumes of masters and workers: when they change, the pods are replaced. Whether
 * that is so, and which pods are still to be replaced. Pure.
 */
import { deepEqual } from '../../base/json.ts'
import type { AdvancedStatefulSet, Dataset, Mount } from '../../kinds/fluid/index.ts'
import type { Pod, PodSpec } from '../../kinds/kubernetes/types.ts'
import { nativeMounts } from '../engines/cache/native-mounts.ts'
import type { Prepared } from '../engines/engine.ts'
import { isOfComponent } from './pods.ts'

/** Whether pods have other volumes than before because the mounts were changed, or may have: they were changed back. */
export function replacesPods(dataset: Dataset): boolean {
  const { spec, status } = dataset
  if (deepEqual(spec?.mounts ?? [], status?.mounts ?? [])) return status?.phase === 'Updating'
  const withMounts = (mounts: Mount[] | undefined): unknown => [
    nativeMounts({ ...dataset, spec: { ...spec, mounts: mounts ?? [] } }),
    secretsIn(mounts ?? []),
  ]
  return !deepEqual(withMounts(spec?.mounts), withMounts(status?.mounts))
}

const secretsIn = (mounts: readonly Mount[]): string[] => {
  const options = mounts.flatMap(({ encryptOptions = [] }) => encryptOptions)
  return [...new Set(options.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []))].sort()
}

/** The first pod, of the components in their order, that has the volumes of other mounts. */
export function outdatedPod({ objects }: Prepared, pods: readonly Pod[]): string | undefined {
  for (const { metadata, spec } of objects.sets) {
    const wanted = sourcesIn(spec.template.spec)
    const own = pods.filter((pod) => isOfComponent(pod, metadata.name ?? ''))
    const outdated = own.filter((pod) => !deepEqual(sourcesIn(pod.spec), wanted)).map((pod) => pod.metadata.name ?? '')
    if (outdated.length > 0) return outdated.sort()[0]
  }
  return undefined
}

/** As the templates of a cache name them; what others add to a pod is none of ours. */
const SOURCE = /^(native-mount-\d+$|cache-mnt-secret-)/

type TemplateSpec = PodSpec | AdvancedStatefulSet['spec']['template']['spec']

/** Without what a server adds. */
function sourcesIn(spec: TemplateSpec): unknown {
  const [container] = spec?.containers ?? []
  const volumes = (spec?.volumes ?? []).filter(({ name = '' }) => SOURCE.test(name))
  const mounts = (container?.volumeMounts ?? []).filter(({ name = '' }) => SOURCE.test(name))
  return [
    volumes
      .map(({ name = '', hostPath, persistentVolumeClaim, secret }) => [
        name,
        hostPath?.path ?? '',
        persistentVolumeClaim?.claimName ?? '',
        secret?.secretName ?? '',
      ])
      .sort(byText),
    mounts.map(({ name = '', mountPath = '', subPath = '', readOnly = false }) => [name, mountPath, subPath, readOnly]).sort(byText),
  ]
}

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
