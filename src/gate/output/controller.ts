/**
 * Publishes what workloads make: the only writer of the DataSources of data that a workload declares with
 * `sluice.dev/produces`, and of their annotations `sluice.dev/*`. Runs when the progress of the workload changes, its
 * declaration, or a source of the same data. A failure publishes nothing.
 *
 * What was made stays: neither the end of the workload nor a shorter declaration deletes a source. Deleting it by hand while
 * the workload exists, declares it and has succeeded makes it anew, as version 1: delete the workload or its annotation
 * first. A source that somebody else wrote, or that another namespace makes, is never changed. Nor is ours withdrawn when
 * somebody writes another one for the same data later.
 */
import { deepEqual } from '../../base/json.ts'
import type { ResourceBinding } from '../../kinds/karmada/index.ts'
import { RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { EVENTS } from '../../kinds/kubernetes/resources.ts'
import type { DataSource } from '../../kinds/volcano/index.ts'
import { DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import type { ObjectRef } from '../../kube/object-reference.ts'
import { type Controller, defineController, indexOf, type Signal, via } from '../../runtime/controller.ts'
import { GRANT_INDEXES } from '../../runtime/reference-consent.ts'
import { progressOf, workloadKindOf } from '../workload/index.ts'
import { BY_DATA, type Observed, type OutputDeps, observe, producerOf } from './observe.ts'
import { plan } from './plan.ts'
import { dataNameOf, plainDataKeys, recordedRun } from './produced.ts'
import { isLater } from './run.ts'

export const outputController = (deps: OutputDeps): Controller =>
  defineController<Observed | undefined, ResourceBinding>({
    name: 'gate.output',
    for: RESOURCE_BINDINGS,
    concurrency: 4,
    watches: [via(DATA_SOURCES, (source) => producersOf(deps, source), { isRelevantUpdate: concernsProducers })],
    indexes: [indexOf(DATA_SOURCES, BY_DATA, plainDataKeys), ...GRANT_INDEXES],
    signals: [declarations(deps)],
    writes: [{ resource: DATA_SOURCES, verbs: ['create', 'patch'] }],
    reads: [{ resource: EVENTS, verbs: ['list'] }],
    isRelevant: (binding) => producerOf(deps, binding) !== undefined,
    isRelevantUpdate: (old, binding) => producerOf(deps, binding) !== undefined && hasMoved(old, binding),
    observe: (_key, binding, read, client) => observe(deps, binding, { read, client }),
    plan,
  })

/** Most updates of a binding say nothing about an end. */
function hasMoved(old: ResourceBinding, binding: ResourceBinding): boolean {
  const { apiVersion, kind, uid } = binding.spec.resource
  if (old.spec?.resource?.uid !== uid) return true
  const workload = workloadKindOf(apiVersion, kind)
  return workload !== undefined && !workload.isEndless && !deepEqual(progressOf(workload, old), progressOf(workload, binding))
}

/** Those that make the same data, and those whose source has this very name, whatever it stands for. */
const producersOf = ({ producers }: OutputDeps, source: DataSource): readonly ObjectRef[] => [
  ...producers.of(dataNameOf(source)).map(({ binding }) => binding),
  ...producers.publishedAs(source.metadata.name ?? ''),
]

/** Its status does not. Nor does a later run: whoever was not later than the run before is not later than this one. */
function concernsProducers(old: DataSource, source: DataSource): boolean {
  const [before, after] = [recordedRun(old), recordedRun(source)]
  if (before !== undefined && after !== undefined && isLater(after, before)) return false
  const partOf = ({ spec, metadata: { annotations, deletionTimestamp } }: DataSource): unknown => ({ spec, annotations, deletionTimestamp })
  return !deepEqual(partOf(old), partOf(source))
}

const declarations = ({ producers }: OutputDeps): Signal => ({
  subscribe: (enqueue) => producers.onDeclaration((binding) => enqueue(binding)),
})
