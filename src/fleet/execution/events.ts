/** Events about a Work: on the Work, and on the template of a manifest. */

import { TEMPLATE_UID } from '../../kinds/karmada/well-known.ts'
import type { Work } from '../../kinds/karmada/work.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfObject } from '../../kube/object-reference.ts'
import type { EventIntent } from '../../runtime/controller.ts'

/** Without a slash where there is no namespace. */
const reference = ({ metadata: { namespace = '', name = '' } }: KubeObject): string => (namespace === '' ? name : `${namespace}/${name}`)

/** The object on the hub that a manifest stands for. */
function templateOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, annotations } = metadata
  return { apiVersion, kind, metadata: { name, namespace, uid: annotations?.[TEMPLATE_UID] } }
}

export const synced = (work: Work, cluster: string): EventIntent => ({
  of: work,
  type: 'Normal',
  reason: 'SyncSucceed',
  message: `Sync work(${keyOfObject(work)}) to cluster(${cluster}) successful.`,
})

export const applied = (manifest: KubeObject, cluster: string): EventIntent => ({
  of: templateOf(manifest),
  type: 'Normal',
  reason: 'SyncSucceed',
  message: `Successfully applied resource(${keyOfObject(manifest)}) to cluster ${cluster}`,
})

export const notSynced = (work: Work, cluster: string, why: string): EventIntent => ({
  of: work,
  type: 'Warning',
  reason: 'SyncFailed',
  message: `Failed to sync work(${keyOfObject(work)}) to cluster(${cluster}), err: ${why}`,
})

export const refused = (manifest: KubeObject, cluster: string, why: string): EventIntent => ({
  of: templateOf(manifest),
  type: 'Warning',
  reason: 'SyncFailed',
  message: `Failed to create or update resource(${reference(manifest)}) in member cluster(${cluster}): ${why}`,
})

export const dispatching = (work: Work, message: string): EventIntent => ({ of: work, type: 'Normal', reason: 'WorkDispatching', message })

export const cleanupWaits = (work: Work, why: string): EventIntent => ({
  of: work,
  type: 'Warning',
  reason: 'CleanupWorkFailed',
  message: `Failed to remove the objects of work(${keyOfObject(work)}): ${why}`,
})

const objectText = (manifest: KubeObject): string => `object(${manifest.kind}/${keyOfObject(manifest)})`

export const notReflected = (work: Work, manifest: KubeObject, why: string): EventIntent => ({
  of: work,
  type: 'Warning',
  reason: 'ReflectStatusFailed',
  message: `Reflect status for ${objectText(manifest)} failed, err: ${why}`,
})

export const healthUnknown = (work: Work, manifest: KubeObject, why: string): EventIntent => ({
  of: work,
  type: 'Warning',
  reason: 'InterpretHealthFailed',
  message: `Interpret health of ${objectText(manifest)} failed, err: ${why}`,
})
