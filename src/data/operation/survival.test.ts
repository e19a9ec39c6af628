import assert from 'node:assert/strict'
import { type Invariant, type Survival, survives } from '../../faultsim/survives.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { operationResource } from '../../kinds/fluid/operation.ts'
import type { OperationKind } from '../../kinds/fluid/operation-parts.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { carryingControllers } from './all.ts'
import { bindDataset, endPodsIn, modulesWith, SIMULATED_PODS, statusOf } from './stories/testing.ts'
import { anOperation, KINDS } from './testing.ts'

const JOB_NAMES: Record<OperationKind, string> = {
  DataLoad: '-loader-job',
  DataMigrate: '-migrate-migrate',
  DataBackup: '-pod',
  DataProcess: '-processor-job',
}
const END = { phase: 'Succeeded', at: '2026-01-01T00:00:30Z' } as const
const namesIn = (kind: OperationKind) => ({ resource: operationResource(kind) as Resource })

const statusIn = (object: KubeObject | undefined) => (object?.status ?? {}) as { phase?: string }

/** Whoever runs after another one, while that is there. */
const inOrder: Invariant = {
  says: 'an operation begins only when the one that it runs after is complete',
  broken: (objects) => {
    for (const kind of KINDS) {
      const { plural, group } = operationResource(kind)
      const [before, after] = ['a', 'b'].map((name) => objects.get(`${plural}.${group}`, `default/${name}`))
      const isBegun = !['', 'Pending'].includes(statusIn(after).phase ?? '')
      if (before !== undefined && isBegun && statusIn(before).phase !== 'Complete')
        return `${kind} b began while a was ${statusIn(before).phase}`
    }
    return undefined
  },
}

const ORDER = ['', 'Pending', 'Executing', 'Complete']
const onlyForward: Invariant<Map<string, number>> = {
  says: 'the phase of an operation only goes forward',
  memory: () => new Map(),
  broken: (objects, _change, seen) => {
    for (const kind of KINDS) {
      const { plural, group } = operationResource(kind)
      for (const object of objects.list(`${plural}.${group}`)) {
        const [uid, at] = [object.metadata.uid ?? '', ORDER.indexOf(statusIn(object).phase ?? '')]
        if (at < (seen.get(uid) ?? 0)) return `${kind} ${object.metadata.name} went back to ${ORDER[at]}`
        seen.set(uid, at)
      }
    }
    return undefined
  },
}

const job = { podSpec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
const simulated = (kind: OperationKind) =>
  kind === 'DataProcess' ? { processor: { podMetadata: SIMULATED_PODS, job } } : { podMetadata: SIMULATED_PODS }

/**
 * Two of a kind, one after the other; the first, which is simulated, is deleted when both have ended. A backup has no field for
 * that.
 */
const scenario = (kind: OperationKind): Survival => ({
  modules: modulesWith(),
  nodes: 0,
  before: [(cluster) => bindDataset(cluster, 'demo', 'Bound', 'builtin')],
  steps: [
    async (cluster: WorldCluster) => {
      await cluster.create(anOperation(kind, { metadata: { name: 'a' }, spec: simulated(kind) }))
      await cluster.create(anOperation(kind, { metadata: { name: 'b' }, spec: { runAfter: { kind, name: 'a' } } }))
    },
    (cluster: WorldCluster) => endPodsIn(cluster, `a${JOB_NAMES[kind]}`, END),
    (cluster: WorldCluster) => endPodsIn(cluster, `b${JOB_NAMES[kind]}`, END),
    (cluster: WorldCluster) => cluster.delete(namesIn(kind).resource, 'default/a'),
  ],
  invariants: [inOrder, onlyForward as Invariant],
  atRest: async (cluster: WorldCluster) => {
    const { phase, infos = {} } = await statusOf(cluster, kind, 'b')
    assert.equal(phase, 'Complete')
    const says = kind === 'DataBackup' ? [] : ['simulatedBefore']
    assert.deepEqual(
      Object.keys(infos).filter((key) => !key.startsWith('Backup')),
      says,
    )
    assert.equal(await cluster.get(namesIn(kind).resource, 'default/a'), undefined)
  },
})

for (const controller of carryingControllers({ referenceConsent: 'open', translates: true })) {
  const kind = KINDS.find((one) => controller.for?.kind === one)
  if (kind !== undefined) survives(controller, scenario(kind))
}
