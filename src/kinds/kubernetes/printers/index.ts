/**
 * The tables of the built-in kinds: columns as the real server declares them (from the facts), rows as it fills them.
 * The server returns all columns and clients leave out those with a priority, so rows are always complete.
 */
import type { KubeObject } from '../../../kube/meta.ts'
import type { Column, TablePrinter } from '../../kind.ts'
import tableFacts from '../facts/tables.facts'
import { once } from '../once.ts'
import * as autoscaling from './autoscaling.ts'
import * as control from './control.ts'
import * as core from './core.ts'
import type { Cells } from './fields.ts'
import * as network from './network.ts'
import { podRow } from './pod.ts'
import * as storage from './storage.ts'
import * as workloads from './workloads.ts'

type Row = TablePrinter['row']

const row =
  (cells: Cells): Row =>
  (object: KubeObject, nowMs: number) => ({ cells: cells(object, nowMs) })

/** By `group/version/resource`, the core group being `v1/…`. Kinds not named here show when they were created. */
const CELLS: ReadonlyMap<string, Cells> = new Map<string, Cells>([
  ['v1/componentstatuses', core.componentStatus],
  ['v1/configmaps', core.configMap],
  ['v1/endpoints', network.endpoints],
  ['v1/events', core.coreEvent],
  ['v1/namespaces', core.namespace],
  ['v1/nodes', core.node],
  ['v1/persistentvolumeclaims', storage.persistentVolumeClaim],
  ['v1/persistentvolumes', storage.persistentVolume],
  ['v1/podtemplates', workloads.podTemplate],
  ['v1/replicationcontrollers', workloads.replicationController],
  ['v1/resourcequotas', core.resourceQuota],
  ['v1/secrets', core.secret],
  ['v1/serviceaccounts', core.nameAndAge],
  ['v1/services', network.service],
  ['apiregistration.k8s.io/v1/apiservices', control.apiService],
  ['apps/v1/controllerrevisions', workloads.controllerRevision],
  ['apps/v1/daemonsets', workloads.daemonSet],
  ['apps/v1/deployments', workloads.deployment],
  ['apps/v1/replicasets', workloads.replicaSet],
  ['apps/v1/statefulsets', workloads.statefulSet],
  ['events.k8s.io/v1/events', core.event],
  ['autoscaling/v2/horizontalpodautoscalers', autoscaling.autoscaler],
  ['autoscaling/v1/horizontalpodautoscalers', autoscaling.autoscalerV1],
  ['batch/v1/cronjobs', workloads.cronJob],
  ['batch/v1/jobs', workloads.job],
  ['certificates.k8s.io/v1/certificatesigningrequests', control.certificateSigningRequest],
  ['networking.k8s.io/v1/ingressclasses', network.ingressClass],
  ['networking.k8s.io/v1/ingresses', network.ingress],
  ['networking.k8s.io/v1/ipaddresses', network.ipAddress],
  ['networking.k8s.io/v1/networkpolicies', network.networkPolicy],
  ['networking.k8s.io/v1/servicecidrs', network.serviceCidr],
  ['policy/v1/poddisruptionbudgets', autoscaling.disruptionBudget],
  ['rbac.authorization.k8s.io/v1/clusterrolebindings', control.roleBinding],
  ['rbac.authorization.k8s.io/v1/rolebindings', control.roleBinding],
  ['storage.k8s.io/v1/csidrivers', storage.csiDriver],
  ['storage.k8s.io/v1/csinodes', storage.csiNode],
  ['storage.k8s.io/v1/storageclasses', storage.storageClass],
  ['storage.k8s.io/v1/volumeattachments', storage.volumeAttachment],
  ['storage.k8s.io/v1/volumeattributesclasses', storage.volumeAttributesClass],
  ['admissionregistration.k8s.io/v1/mutatingadmissionpolicies', control.mutatingPolicy],
  ['admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings', control.policyBinding],
  ['admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', control.webhookConfiguration],
  ['admissionregistration.k8s.io/v1/validatingadmissionpolicies', control.validatingPolicy],
  ['admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', control.policyBinding],
  ['admissionregistration.k8s.io/v1/validatingwebhookconfigurations', control.webhookConfiguration],
  ['scheduling.k8s.io/v1/priorityclasses', control.priorityClass],
  ['coordination.k8s.io/v1/leases', control.lease],
  ['node.k8s.io/v1/runtimeclasses', control.runtimeClass],
  ['discovery.k8s.io/v1/endpointslices', network.endpointSlice],
  ['resource.k8s.io/v1/deviceclasses', core.nameAndAge],
  ['resource.k8s.io/v1/resourceclaims', control.resourceClaim],
  ['resource.k8s.io/v1/resourceclaimtemplates', core.nameAndAge],
  ['resource.k8s.io/v1/resourceslices', control.resourceSlice],
  ['flowcontrol.apiserver.k8s.io/v1/flowschemas', control.flowSchema],
  ['flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations', control.priorityLevel],
])

const printers = once((): ReadonlyMap<string, TablePrinter> => {
  const facts = JSON.parse(tableFacts) as Record<string, { columns: Column[] }>
  return new Map(
    Object.entries(facts).map(([key, { columns }]) => {
      const own = key === 'v1/pods' ? podRow : row(CELLS.get(key) ?? core.nameAndCreation)
      return [key, { columns, row: own }]
    }),
  )
})

/** Undefined for resources the facts do not know; they show their name and when they were created. */
export function printerFor(group: string, version: string, resource: string): TablePrinter | undefined {
  return printers().get(group === '' ? `${version}/${resource}` : `${group}/${version}/${resource}`)
}
