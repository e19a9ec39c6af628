/**
 * What is known about a workload that declares to make something: whether it succeeded, in which run and where, and what
 * stands for its data. Also what it is to be reported; whether it was reported already is asked of the server, because no write of
 * ours shows it, and a restart must not repeat it.
 */
import type { Client } from '../../client/client.ts'
import type { ResourceBinding } from '../../kinds/karmada/index.ts'
import { bindingName } from '../../kinds/karmada/names.ts'
import { RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { EVENTS } from '../../kinds/kubernetes/resources.ts'
import { type DataName, dataKey, parseProduces } from '../../kinds/volcano/annotations.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { sourceObjectName } from '../../kinds/volcano/source-name.ts'
import { PRODUCES_ANNOTATION } from '../../kinds/volcano/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { refOf } from '../../kube/object-reference.ts'
import type { Parsed } from '../../kube/parsed.ts'
import type { Resource } from '../../kube/resource.ts'
import type { EventIntent, PassReader } from '../../runtime/controller.ts'
import { isPermitted, type ReferenceConsent } from '../../runtime/reference-consent.ts'
import type { Templates } from '../../runtime/templates.ts'
import { progressOf, type WorkloadKind, workloadKindOf } from '../workload/index.ts'
import { type Decision, decide, type Output, type Success } from './decide.ts'
import { neverFinishes, notPublished, unknownKind, unreadable } from './events.ts'
import { makerOf, provisionedBy } from './produced.ts'
import { declares, type ProducerIndex } from './producers.ts'
import { runOf, type Succeeded } from './run.ts'

export interface OutputDeps {
  templates: Templates
  producers: ProducerIndex
  /** Whether namespaces may use each other's sources where their owners have stated nothing. */
  referenceConsent: ReferenceConsent
}

export interface Observed {
  template: KubeObject
  /** Undefined until it has succeeded. */
  success: Success | undefined
  outputs: readonly { output: Output; decision: Decision }[]
  /** What the workload is to be reported, and was not reported yet. */
  complaints: readonly EventIntent[]
}

/** An index of sources by what they stand for. */
export const BY_DATA = 'by-data'

/** The workload of a binding, if it declares to make something and the binding is really its own. */
export function producerOf({ templates }: OutputDeps, binding: ResourceBinding): KubeObject | undefined {
  const reference = binding.spec?.resource
  if (reference === undefined) return undefined
  const template = templates.get(reference)
  if (template === undefined || !declares(template) || templates.isSkipped(template)) return undefined
  const { namespace, name } = refOf(binding)
  const isItsOwn =
    template.metadata.uid === reference.uid &&
    refOf(template).namespace === namespace &&
    bindingName(template.kind, template.metadata.name ?? '') === name
  return isItsOwn && namespace !== '' ? template : undefined
}

interface Pass {
  read: PassReader
  client: Client
}

export async function observe(deps: OutputDeps, binding: ResourceBinding | undefined, pass: Pass): Promise<Observed | undefined> {
  const template = binding === undefined ? undefined : producerOf(deps, binding)
  const resource = template === undefined ? undefined : deps.templates.resourceOf(template.apiVersion, template.kind)
  // What is being deleted counts as gone: otherwise its sources could not be deleted together with it.
  if (binding === undefined || template === undefined || resource === undefined || template.metadata.deletionTimestamp !== undefined)
    return undefined
  const declared = parseProduces(template.metadata.annotations?.[PRODUCES_ANNOTATION] ?? '')
  const kind = workloadKindOf(template.apiVersion, template.kind)
  const obstacle = obstacleTo(template, kind, declared)
  if (kind === undefined || obstacle !== undefined)
    return { template, success: undefined, outputs: [], complaints: await unreported(pass.client, template, obstacle) }
  const success = successOf({ template, binding, progress: progressOf(kind, binding), nowMs: pass.read.nowMs() }, resource)
  const outputs = success === undefined ? [] : decided({ deps, names: declared.value ?? [], success, binding, read: pass.read })
  const refused = outputs.flatMap(({ output, decision }) =>
    decision.do === 'refuse' ? [notPublished(template, output.name, decision)] : [],
  )
  return { template, success, outputs, complaints: await unreported(pass.client, template, ...refused) }
}

/** Why nothing will ever come of the declaration. */
function obstacleTo(template: KubeObject, kind: WorkloadKind | undefined, { error }: Parsed<unknown>): EventIntent | undefined {
  if (error !== undefined) return unreadable(template, error)
  if (kind === undefined) return unknownKind(template)
  return kind.isEndless ? neverFinishes(template) : undefined
}

function successOf(of: Succeeded, resource: Resource): Success | undefined {
  const run = runOf(of)
  if (run === undefined) return undefined
  const targets = (of.binding.spec.clusters ?? []).map(({ name }) => name)
  return {
    namespace: refOf(of.binding).namespace,
    by: provisionedBy(of.template, resource),
    run,
    clusters: of.progress.succeededIn,
    targets,
  }
}

interface Deciding {
  deps: OutputDeps
  names: readonly DataName[]
  success: Success
  binding: ResourceBinding
  read: PassReader
}

function decided({ deps, names, success, binding, read }: Deciding): Observed['outputs'] {
  const outputs = names.map((name) => {
    const output = outputOf(name, success.namespace, { read, mode: deps.referenceConsent })
    return { output, decision: decide(output, success) }
  })
  return outputs.filter(({ decision }) => isSure(decision, binding, read))
}

/**
 * That nothing stands for the data is concluded only from a cache that is at least as new as the success; and that the
 * workload has moved, only from one that is at least as new as the source.
 */
function isSure(decision: Decision, { metadata }: ResourceBinding, read: PassReader): boolean {
  if (decision.do === 'create') return read.reflects(DATA_SOURCES, '', Number(metadata.resourceVersion))
  if (decision.do !== 'update' || decision.isMoved !== true) return true
  return read.reflects(RESOURCE_BINDINGS, metadata.namespace ?? '', Number(decision.of.metadata.resourceVersion))
}

function outputOf(name: DataName, namespace: string, consent: { read: PassReader; mode: ReferenceConsent }): Output {
  const { read } = consent
  const objectName = sourceObjectName(name, namespace)
  const standing = read.byIndex(DATA_SOURCES, BY_DATA, dataKey(name))
  const claims = { group: DATA_SOURCE_CLAIMS.group, kind: DATA_SOURCE_CLAIMS.kind, namespace }
  return {
    name,
    objectName,
    own: read.get(DATA_SOURCES, '', objectName),
    written: standing.filter((source) => makerOf(source) === undefined),
    // That something exists which this namespace may not use is not for its eyes.
    isElsewhere: standing.some((source) => {
      const { group, kind } = DATA_SOURCES
      const maker = makerOf(source)
      if (maker === undefined || maker === namespace) return false
      return isPermitted(claims, { group, kind, namespace: maker, name: source.metadata.name ?? '' }, consent)
    }),
  }
}

/** Events expire; then it may be reported once more, when something happens. */
async function unreported(
  client: Client,
  { metadata }: KubeObject,
  ...complaints: readonly (EventIntent | undefined)[]
): Promise<EventIntent[]> {
  const wanted = complaints.filter((one) => one !== undefined)
  if (wanted.length === 0) return []
  const { items } = await client.list(EVENTS, { namespace: metadata.namespace, fieldSelector: `involvedObject.uid=${metadata.uid}` })
  const reported = new Set(items.map(({ reason, message }) => `${reason} ${message}`))
  return wanted.filter(({ reason, message }) => !reported.has(`${reason} ${message}`))
}
