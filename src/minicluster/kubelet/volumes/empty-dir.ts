/**
 * emptyDir: a directory that lives as long as the pod; with medium Memory, in memory, with a limit as kubelets set it. A limit
 * on disk is not enforced on this machine.
 */
import { podAmounts } from '../../../kinds/kubernetes/pod-amounts.ts'
import { amountOf, MEMORY } from '../../../kube/amounts.ts'
import { formatQuantity } from '../../../kube/quantity.ts'
import type { VolumeContext, VolumeDriver } from '../../../runtime/seams/volume-driver.ts'

export const emptyDir: VolumeDriver = {
  field: 'emptyDir',
  plan: ({ emptyDir: source }, context) =>
    source?.medium === 'Memory' ? { kind: 'memory', sizeBytes: sizeOf(source.sizeLimit, context) } : { kind: 'directory' },
}

/** The smallest of what the volume, the limits of the pod, and the node allow. */
function sizeOf(limit: string | number | undefined, { pod, node }: Pick<VolumeContext, 'pod' | 'node'>): number | undefined {
  const ofPod = podAmounts(pod, 'limits').get(MEMORY)
  const limits = [limit, ofPod === undefined ? undefined : formatQuantity(ofPod), node?.status?.allocatable?.memory]
  const sizes = limits.map((one) => amountOf(MEMORY, one)).filter((size) => size > 0)
  return sizes.length === 0 ? undefined : Math.min(...sizes)
}
