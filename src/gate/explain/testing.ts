/** Objects for the tests of this folder. */
import type { Binding, Cluster } from '../../kinds/karmada/index.ts'
import type { DataSource, DataSourceClaim, DataSourceClaimSpec } from '../../kinds/volcano/index.ts'
import type { Condition } from '../../kube/conditions.ts'

export const clusterOf = (name: string, isReady = true): Cluster =>
  ({ metadata: { name }, spec: {}, status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] } }) as unknown as Cluster

export const sourceOf = (name: string, clusterNames: readonly string[], more: Partial<DataSource['metadata']> = {}): DataSource =>
  ({
    apiVersion: 'datadependency.volcano.sh/v1alpha1',
    kind: 'DataSource',
    metadata: { name, ...more },
    spec: { system: 'hive', type: 'table', name: 'sales', locality: { clusterNames }, reclaimPolicy: 'Retain' },
  }) as unknown as DataSource

/** For one workload, by the logical name. */
export const BUILT: DataSourceClaimSpec = {
  system: 'hive',
  dataSourceType: 'table',
  dataSourceName: 'sales',
  workload: { apiVersion: 'batch/v1', kind: 'Job', name: 'report' },
}

type Says = Pick<Condition, 'type' | 'status'> & Partial<Condition>

export const claimOf = (name: string, spec: Partial<DataSourceClaimSpec> = BUILT, conditions: readonly Says[] = []): DataSourceClaim =>
  ({
    apiVersion: 'datadependency.volcano.sh/v1alpha1',
    kind: 'DataSourceClaim',
    metadata: { name, namespace: 'shop', generation: 1, uid: `uid-${name}` },
    spec,
    status: { phase: 'Pending', conditions: conditions.map((one) => ({ observedGeneration: 1, ...one })) },
  }) as unknown as DataSourceClaim

export const waiting = (name: string, reason: string, message: string, spec?: Partial<DataSourceClaimSpec>): DataSourceClaim =>
  claimOf(name, spec, [
    { type: 'Resolved', status: 'False', reason, message },
    { type: 'Ready', status: 'Unknown', reason: 'NotResolved', message: 'no DataSource is bound' },
    { type: 'Placed', status: 'Unknown', reason: 'NotResolved', message: 'no DataSource is bound' },
  ])

const GOOD: readonly Says[] = [
  { type: 'Resolved', status: 'True', reason: 'SourceFound' },
  { type: 'Ready', status: 'True', reason: 'Available', message: 'it can be used' },
  { type: 'Placed', status: 'True', reason: 'Released', message: 'every workload is scheduled where the data is' },
]

/** `instead` takes the place of the good conditions of the same types. */
export function bound(name: string, source: string, instead: readonly Says[] = []): DataSourceClaim {
  const claim = claimOf(name, BUILT, [...instead, ...GOOD.filter(({ type }) => !instead.some((one) => one.type === type))])
  return { ...claim, status: { ...claim.status, phase: 'Bound', boundTo: source, boundDataSource: source } } as DataSourceClaim
}

export const bindingOf = (annotations: Record<string, string>, spec: Partial<Binding['spec']> = {}): Binding =>
  ({
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { namespace: 'shop', name: 'report-job', annotations },
    spec: { resource: { apiVersion: 'batch/v1', kind: 'Job', name: 'report' }, ...spec },
  }) as unknown as Binding

/** As the detector writes the hold of the gate. */
export const heldBinding = (reason: string, message: string, by = ''): Binding =>
  bindingOf(
    {
      'sluice.dev/narrowed-by': 'gate',
      'sluice.dev/held-reason': reason,
      'sluice.dev/held-because': message,
      ...(by === '' ? {} : { 'sluice.dev/held-by': by }),
      'propagationpolicy.karmada.io/name': 'batch',
      'propagationpolicy.karmada.io/namespace': 'shop',
    },
    { suspension: { scheduling: true } },
  )
