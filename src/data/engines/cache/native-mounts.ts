/**
 * Mounts whose data is a volume already: a claim of the same namespace (`pvc://<claim>[/sub]`) or a directory of the node
 * (`local:///path`). They are mounted into the pods that read the source, each below the name of its mount.
 */
import type { Dataset, Mount } from '../../../kinds/fluid/index.ts'
import { parseMountPoint, pathOfMount } from '../../../kinds/fluid/mount-point.ts'
import type { Volume, VolumeMount } from '../../../kinds/kubernetes/types.ts'

/** Where the programs of the cache look for them. */
const NATIVE_PATH = '/var/lib/sluice/sources'

export const nativeMounts = (dataset: Dataset): { volume: Volume; mount: VolumeMount }[] =>
  (dataset.spec?.mounts ?? []).flatMap((mount, i): { volume: Volume; mount: VolumeMount }[] => {
    const name = `native-mount-${i}`
    const access = { name, mountPath: `${NATIVE_PATH}/${folderOf(mount)}`, ...(isReadOnly(dataset, mount) ? { readOnly: true } : {}) }
    // What cannot be read is refused at admission; a dataset from before it has no such volume.
    const { value: point } = parseMountPoint(mount.mountPoint)
    if (point?.kind === 'local') return [{ volume: { name, hostPath: { path: point.path, type: 'Directory' } }, mount: access }]
    if (point?.kind !== 'pvc') return []
    const { claim: claimName, subPath } = point
    return [{ volume: { name, persistentVolumeClaim: { claimName } }, mount: { ...access, ...(subPath === '' ? {} : { subPath }) } }]
  })

/** Of a mount without a name, its path in the dataset. */
function folderOf(mount: Mount): string {
  const { name = '' } = mount
  const path = pathOfMount(mount).slice(1).replaceAll('/', '-')
  return name !== '' ? name : path === '' ? 'root' : path
}

/** Nothing is written to the source of a dataset that is read only. */
function isReadOnly({ spec }: Dataset, { readOnly }: Mount): boolean {
  const modes = spec?.accessModes ?? []
  return readOnly === true || modes.length === 0 || modes.every((mode) => mode === 'ReadOnlyMany')
}
