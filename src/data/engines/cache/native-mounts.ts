/**
 * Mounts whose data is a volume already: `pvc://<claim>[/sub]` is a claim of the same namespace, `local:///path` a directory of
 * the node. They are mounted into the pods that read the source, each below the name of its mount.
 */
import type { Dataset, Mount } from '../../../kinds/fluid/index.ts'
import type { Volume, VolumeMount } from '../../../kinds/kubernetes/types.ts'

const NATIVE_PATH = '/underFSStorage'
const PVC = 'pvc://'
const LOCAL = 'local://'

export const isNative = ({ mountPoint }: Mount): boolean => mountPoint.startsWith(PVC) || mountPoint.startsWith(LOCAL)

export const nativeMounts = (dataset: Dataset): { volume: Volume; mount: VolumeMount }[] =>
  (dataset.spec?.mounts ?? []).flatMap((mount, i): { volume: Volume; mount: VolumeMount }[] => {
    const { mountPoint, name: of, readOnly } = mount
    if (!isNative(mount)) return []
    const name = `native-mount-${i}`
    const access = { name, mountPath: `${NATIVE_PATH}/${of ?? i}`, ...(isReadOnly(dataset, readOnly) ? { readOnly: true } : {}) }
    if (mountPoint.startsWith(LOCAL))
      return [{ volume: { name, hostPath: { path: mountPoint.slice(LOCAL.length), type: 'Directory' } }, mount: access }]
    const [claimName = '', ...below] = mountPoint.slice(PVC.length).split('/')
    const subPath = below.filter((part) => part !== '').join('/')
    return [{ volume: { name, persistentVolumeClaim: { claimName } }, mount: { ...access, ...(subPath === '' ? {} : { subPath }) } }]
  })

/** Nothing is written to the source of a dataset that is read only. */
function isReadOnly({ spec }: Dataset, readOnly: boolean | undefined): boolean {
  const modes = spec?.accessModes ?? []
  return readOnly === true || modes.length === 0 || modes.every((mode) => mode === 'ReadOnlyMany')
}
