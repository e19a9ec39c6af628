/**
 * Admission of Cluster. Karmada serves it from a separate server; here its rules are admission, so that they also hold on a
 * hub that serves it as a custom resource.
 */
import { formatInstant } from '../../../kube/go-time.ts'
import { type Admission, defineAdmission } from '../../admission.ts'
import { items, maybeObject, string, writableObjects } from '../../kubernetes/rules/fields.ts'
import type { Cluster } from '../cluster.ts'
import { GROUPS } from '../kube-schemas.ts'
import { credentialErrors } from './cluster-credentials.ts'
import { sortModels } from './cluster-models.ts'
import { clusterErrors, clusterNameErrors } from './cluster-rules.ts'
import { isBeingDeleted } from './metadata.ts'

export const clusterAdmission: Admission = defineAdmission({
  name: 'Cluster',
  about:
    'Dates the taints of a cluster, moves its zone to its zones, and refuses what cannot be reached or told apart, and authors who may not read the Secrets whose tokens they would send somewhere.',
  resources: [{ group: GROUPS.cluster, resource: 'clusters' }],
  operations: ['CREATE', 'UPDATE'],
  asksForRights: true,
  mutate({ object }, { nowMs }) {
    const spec = object === undefined ? undefined : maybeObject(object, 'spec')
    if (spec === undefined) return
    dateTaints(spec, nowMs)
    moveZone(spec)
    sortModels(spec)
  },
  async validate({ object, oldObject, operation }, context) {
    if (object === undefined) return undefined
    const cluster = object as Cluster
    const credentials = await credentialErrors(cluster, oldObject as Cluster | undefined, context)
    // It is still connected to while it is being deleted.
    if (isBeingDeleted(object)) return credentials
    const names = operation === 'CREATE' ? clusterNameErrors(cluster.metadata.name ?? '') : []
    return [...names, ...clusterErrors(cluster.spec), ...credentials]
  },
})

/** The wait before an eviction is counted from the time the taint was added. */
function dateTaints(spec: Record<string, unknown>, nowMs: number): void {
  for (const taint of writableObjects(spec, 'taints'))
    if (string(taint, 'effect') === 'NoExecute' && (taint.timeAdded ?? undefined) === undefined)
      taint.timeAdded = formatInstant({ seconds: Math.floor(nowMs / 1000), nanos: 0 })
}

function moveZone(spec: Record<string, unknown>): void {
  const zone = string(spec, 'zone')
  if (zone === '' || items(spec, 'zones').length > 0) return
  spec.zones = [zone]
  delete spec.zone
}
