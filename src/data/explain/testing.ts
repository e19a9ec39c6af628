/** Datasets, runtimes and pods for the tests of this folder. */

import { NONE } from '../../client/read-as-caller.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { PersistentVolumeClaim, Pod, PodStatus } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ExplainedObject } from '../../runtime/seams/explainer.ts'
import { commandsFor } from './commands.ts'
import type { DatasetInput } from './input.ts'

export const FLUID = 'data.fluid.io/v1alpha1'

export const aDataset = (status: Partial<NonNullable<Dataset['status']>> = {}, spec: Dataset['spec'] = {}): Dataset => ({
  apiVersion: FLUID,
  kind: 'Dataset',
  metadata: { namespace: 'shop', name: 'demo', uid: 'u' },
  spec: { mounts: [{ mountPoint: 'https://example.com/data', name: 'data' }], ...spec },
  status: { conditions: [], ...status },
})

export const BOUND = {
  phase: 'Bound',
  ufsTotal: '1.50GiB',
  fileNum: '7',
  cacheStates: { cached: '300.00MiB', cachedPercentage: '19.5%' },
  conditions: [{ type: 'Ready', status: 'True', reason: 'DatasetReady', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }],
}

export const served = (status: string, reason: string, message = ''): object => ({
  conditions: [{ type: 'Served', status, reason, message }],
})

export const aRuntime = (status: object = served('True', 'Served'), kind = 'CacheRuntime'): KubeObject => ({
  apiVersion: FLUID,
  kind,
  metadata: { namespace: 'shop', name: 'demo' },
  spec: kind === 'CacheRuntime' ? { runtimeClassName: 'builtin' } : {},
  status,
})

export const READY: PodStatus = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
export const unschedulable = (message: string): PodStatus => ({
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
})

/** On a node, unless no node takes it. */
export function aPod(name: string, status: PodStatus, metadata: Pod['metadata'] = {}, claims: readonly string[] = []): Pod {
  const isPlaced = !(status.conditions ?? []).some(({ type, status: value }) => type === 'PodScheduled' && value === 'False')
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name, ...metadata },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      ...(isPlaced ? { nodeName: 'n1' } : {}),
      volumes: claims.map((claim) => ({ name: claim, persistentVolumeClaim: { claimName: claim } })),
    },
    status,
  }
}

const labelsOf = (type: 'master' | 'worker'): Record<string, string> => ({
  'cacheruntime.fluid.io/name': 'demo',
  'cacheruntime.fluid.io/component-name': `demo-${type}`,
  ...(type === 'worker' ? { 'fluid.io/dataset': 'shop-demo' } : {}),
})
export const master = (status = READY): Pod => aPod('demo-master-0', status, { labels: labelsOf('master') })
export const worker = (i = 0, status = READY, annotations: Record<string, string> = {}): Pod =>
  aPod(`demo-worker-${i}`, status, { labels: labelsOf('worker'), annotations })

export const aClaim = (phase = 'Bound', annotations: Record<string, string> = { CreatedBy: 'fluid' }): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace: 'shop', name: 'demo', annotations },
  status: { phase },
})

/** A dataset that is bound, with a master, a worker and no readers. */
export const anInput = (more: Partial<DatasetInput> = {}): DatasetInput => ({
  dataset: aDataset(BOUND),
  runtimes: [aRuntime()],
  hidden: [],
  runtimeClass: { apiVersion: FLUID, kind: 'CacheRuntimeClass', metadata: { name: 'builtin' } } as DatasetInput['runtimeClass'],
  components: { ...NONE, items: [master(), worker()] },
  volume: undefined,
  claim: aClaim(),
  pods: NONE,
  commands: commandsFor('shop', undefined),
  ...more,
})

const MARKS = { ok: '✓', waits: '…', fails: '✗' } as const

export const textOf = ({ links }: ExplainedObject): string[] =>
  links.flatMap(({ what, state, says, more = [] }) => [`${MARKS[state]} ${what}: ${says}`, ...more.map((line) => `  ${line}`)])
