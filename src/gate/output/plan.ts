/** The writes that publish what a workload made: pure. At most one per source, each only if something differs. */
import { DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { PRODUCER_NAMESPACE, PROVISIONED_BY, SOURCE_RUN, SOURCE_VERSION } from '../../kinds/volcano/well-known.ts'
import { groupVersion, type KubeObject } from '../../kube/meta.ts'
import { type Action, type EventIntent, type KeyedEvent, NOTHING_TO_DO, type Plan } from '../../runtime/controller.ts'
import { type Decision, FIRST_VERSION, type Output, type Success } from './decide.ts'
import { alsoMadeElsewhere, published, publishFailed } from './events.ts'
import type { Observed } from './observe.ts'
import { runText } from './run.ts'

export function plan(observed: Observed | undefined): Plan {
  if (observed === undefined) return NOTHING_TO_DO
  const { template, success, outputs, complaints } = observed
  const actions = success === undefined ? [] : outputs.flatMap(({ output, decision }) => publish(template, success, { output, decision }))
  return {
    actions: actions.length === 0 ? [] : [{ do: 'batch', actions, areIndependent: true }],
    events: complaints.map(onceReported),
  }
}

const onceReported = (intent: EventIntent): KeyedEvent => ({ key: `${intent.reason} ${intent.message}`, ...intent })

function publish(template: KubeObject, success: Success, { output, decision }: { output: Output; decision: Decision }): Action[] {
  if (decision.do !== 'create' && decision.do !== 'update') return []
  const { name, objectName } = output
  const [version, clusters] = decision.do === 'create' ? [FIRST_VERSION, success.clusters] : [decision.version, decision.clusters]
  const annotations = {
    [PROVISIONED_BY]: success.by,
    [PRODUCER_NAMESPACE]: success.namespace,
    [SOURCE_VERSION]: version,
    [SOURCE_RUN]: runText(success.run),
  }
  const reported = published(template, { name, source: objectName, version, clusters })
  const eventOnFailure = (why: string): EventIntent => publishFailed(template, name, why)
  const locality = { clusterNames: [...clusters] }
  if (decision.do === 'update') {
    const patch = { metadata: { annotations }, spec: { locality } }
    return [{ do: 'patch', resource: DATA_SOURCES, of: decision.of, patch, events: reported, eventOnFailure }]
  }
  const object: KubeObject = {
    apiVersion: groupVersion(DATA_SOURCES.group, DATA_SOURCES.version),
    kind: DATA_SOURCES.kind,
    metadata: { name: objectName, annotations },
    spec: { ...name, locality, reclaimPolicy: 'Retain' },
  }
  const events = output.isElsewhere ? [reported, alsoMadeElsewhere(template, name)] : reported
  return [{ do: 'create', resource: DATA_SOURCES, object, events, eventOnFailure }]
}
