/**
 * hostPath: what is on this machine at that path, if it has the requested type. Paths that every node has for itself are in
 * the directory of the pod's node, where a missing directory is made: no administrator could have prepared it.
 */
import { isAbsoluteClean, isNodePath, pathOnMachine } from '../../../kube/node-path.ts'
import { type VolumeContext, type VolumeDriver, type VolumePlan, waiting } from '../../../runtime/seams/volume-driver.ts'

export const hostPath: VolumeDriver = {
  field: 'hostPath',
  plan({ hostPath: source }, context) {
    const path = source?.path ?? ''
    if (!isAbsoluteClean(path)) return waiting(`hostPath "${path}" is not an absolute path without ".."`)
    return hostPathPlan({ path, type: source?.type ?? '', readOnly: false }, context)
  },
}

export function hostPathPlan(
  { path, type, readOnly }: { path: string; type: string; readOnly: boolean },
  { nodeDirectory }: Pick<VolumeContext, 'nodeDirectory'>,
): VolumePlan {
  if (!isNodePath(path)) return { kind: 'path', path, type, readOnly }
  return { kind: 'path', path: pathOnMachine(path, nodeDirectory), type, readOnly, within: nodeDirectory }
}
