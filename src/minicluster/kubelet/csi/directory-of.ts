/** Which directory of this machine a hostPath or a claim is, for CSI drivers that publish it: as if a pod had the volume itself. */
import type { Client } from '../../../client/client.ts'
import { ifFound } from '../../../client/errors.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../../kinds/kubernetes/resources.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kinds/kubernetes/types.ts'
import { isAbsoluteClean } from '../../../kube/node-path.ts'
import type { DirectorySource } from '../../../runtime/seams/csi-driver.ts'
import { type VolumePlan, waiting } from '../../../runtime/seams/volume-driver.ts'
import type { ContainerMachine } from '../container-machine.ts'
import { hostPathPlan } from '../volumes/host-path.ts'
import { isClean } from '../volumes/payload.ts'
import { claimPlan } from '../volumes/persistent-volume-claim.ts'
import { setUpVolume } from '../volumes/set-up.ts'

interface Place {
  machine: ContainerMachine
  nodeDirectory: string
  volumesRoot: string | undefined
  client: Client
}

export async function directoryOf({ source, subPath }: { source: DirectorySource; subPath: string }, place: Place): Promise<string> {
  const { machine } = place
  const plan = await planOf(source, place)
  if (plan.kind === 'waiting') throw new Error(plan.message)
  if (plan.kind !== 'path') throw new Error('it is not a directory of this machine')
  const { path } = await setUpVolume(machine, { podUid: '', name: '', plan })
  if ((await machine.kindOf(path)) !== 'directory') throw new Error(`${path} is not a directory`)
  if (subPath === '') return path
  if (!isClean(subPath)) throw new Error(`${JSON.stringify(subPath)} is not a relative path without ".."`)
  return machine.inside(path, subPath)
}

async function planOf(source: DirectorySource, { client, nodeDirectory, volumesRoot }: Place): Promise<VolumePlan> {
  if ('hostPath' in source) {
    const path = source.hostPath
    return isAbsoluteClean(path)
      ? hostPathPlan({ path, type: 'Directory', readOnly: false }, { nodeDirectory })
      : waiting(`${JSON.stringify(path)} is not an absolute path without ".."`)
  }
  const { namespace, claim: name } = source
  const claim = await ifFound(client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, { namespace, name }))
  const volumeName = claim?.spec?.volumeName ?? ''
  const volume = volumeName === '' ? undefined : await ifFound(client.get<PersistentVolume>(PERSISTENT_VOLUMES, { name: volumeName }))
  return claimPlan(name, false, {
    ...{ nodeDirectory, volumesRoot },
    pod: { apiVersion: 'v1', kind: 'Pod', metadata: { namespace } },
    claim: () => claim,
    persistentVolume: () => volume,
    // A volume of another driver is not a directory before it is published.
    hasCsiDriver: () => false,
  })
}
