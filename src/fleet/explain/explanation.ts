/**
 * Why a template is where it is: the chain from the template over its policy, its binding and the decision to each cluster,
 * its Work and the object there, and the first broken link. Pure.
 */
import type { Binding, Policy } from '../../kinds/karmada/index.ts'
import { DEFAULT_SCHEDULER, SCHEDULED } from '../../kinds/karmada/well-known.ts'
import { compareStrings } from '../../kube/go-print.ts'
import type { ExplainedLinks, Explainer } from '../../runtime/seams/explainer.ts'
import { WAITING_BECAUSE } from '../detector/binding/annotations.ts'
import { claimOf } from '../detector/claim.ts'
import { type DecisionRecord, readRecord } from '../scheduler/decision.ts'
import type { ClusterLink, Explanation, Finding } from './chain.ts'
import { byCluster, chosenNames, clusterLink } from './cluster-link.ts'
import type { ExplainInput } from './input.ts'
import { nearMisses, policyText } from './policies.ts'

/** What an explainer of another module adds, and where. */
export type AddedLinks = ExplainedLinks & Pick<Explainer, 'at'>

/** `added` are the links that other modules know about, in their order. */
export function explain(input: ExplainInput, added: readonly AddedLinks[] = []): Explanation {
  const { subject, template, binding } = input
  const { resource, namespace, name } = subject
  const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
  const finding: Finding = { links: [], clusters: [], others: {} }
  explainTemplate(input, finding)
  if (template !== undefined) explainPolicy(input, finding)
  if (binding !== undefined) explainBinding(binding, finding)
  takeIn(added, 'before-schedule', finding)
  if (binding !== undefined) lookAtPlaces(binding, input, finding)
  takeIn(added, 'after-schedule', finding)
  const { trouble, links, clusters, others } = finding
  return {
    template: { apiVersion, kind: resource.kind, namespace, name },
    state: trouble?.state ?? 'ok',
    says: trouble?.says ?? wellIn(clusters),
    ...(trouble === undefined ? {} : { fix: trouble.fix }),
    links,
    clusters,
    others,
  }
}

function explainTemplate({ subject, template }: ExplainInput, finding: Finding): void {
  const { resource, namespace, name } = subject
  if (template !== undefined) {
    finding.links.push({ what: 'template', state: 'ok', says: `${resource.kind} ${where(namespace, name)} is on the hub` })
    return
  }
  const says = `there is no ${resource.kind} ${where(namespace, name)} on the hub`
  finding.links.push({ what: 'template', state: 'fails', says })
  const inNamespace = resource.namespaced ? ', or name its namespace with -n' : ''
  finding.trouble = { state: 'fails', says, fix: `create it on the hub${inNamespace}` }
}

function explainPolicy(input: ExplainInput, finding: Finding): void {
  const { template, policies, subject, binding } = input
  if (template === undefined) return
  const claim = claimOf(template)
  const waiting = (binding ?? template).metadata.annotations?.[WAITING_BECAUSE]
  if (claim === undefined) {
    const says = 'no policy selects it'
    finding.links.push({ what: 'policy', state: 'waits', says, more: nearMisses(template, policies) })
    const own = subject.resource.namespaced ? `a PropagationPolicy in namespace ${subject.namespace} or ` : ''
    finding.trouble ??= { state: 'waits', says, fix: `apply ${own}a ClusterPropagationPolicy whose resourceSelectors name it` }
    return
  }
  const policy = policies.find(({ metadata }) => metadata.name === claim.name && (metadata.namespace ?? '') === claim.namespace)
  const name = policyText(claim)
  if (policy === undefined) {
    const says = `${name} claimed it, and is gone`
    finding.links.push({ what: 'policy', state: 'waits', says })
    finding.trouble ??= { state: 'waits', says, fix: 'nothing: the claim is taken back, and another policy may take it' }
    return
  }
  finding.links.push({ what: 'policy', state: waiting === undefined ? 'ok' : 'waits', says: `${name} selects it${priorityOf(policy)}` })
  if (waiting !== undefined) finding.trouble ??= { state: 'waits', says: waiting, fix: waiting }
  else if (binding === undefined)
    finding.trouble ??= {
      state: 'waits',
      says: 'there is no binding for it yet',
      fix: 'see that the fleet runs on this hub: sluice up, or sluice controllers --role hub',
    }
}

function explainBinding(binding: Binding, finding: Finding): void {
  const says = `${binding.kind} ${where(binding.metadata.namespace ?? '', binding.metadata.name ?? '')}${replicasText(binding)}`
  finding.links.push({ what: 'binding', state: 'ok', says })
}

function takeIn(added: readonly AddedLinks[], at: AddedLinks['at'], finding: Finding): void {
  for (const { links, trouble } of added.filter((one) => one.at === at)) {
    finding.links.push(...links)
    finding.trouble ??= trouble
  }
}

function lookAtPlaces(binding: Binding, input: ExplainInput, finding: Finding): void {
  const record = readRecord(binding.metadata.annotations)
  explainSchedule(binding, record, finding)
  const { works, clusters } = input
  const context = { binding, record, works: byCluster(works), clusters: new Map(clusters.map((one) => [one.metadata.name ?? '', one])) }
  finding.clusters.push(...chosenNames(binding, works).map((name) => clusterLink(name, context, finding)))
  for (const { name, chosen, why } of record?.clusters ?? [])
    if (!chosen && !finding.clusters.some((one) => one.name === name)) finding.clusters.push({ name, isChosen: false, why, state: 'ok' })
  finding.others = { ...record?.others }
}

function explainSchedule(binding: Binding, record: DecisionRecord | undefined, finding: Finding): void {
  const held = binding.metadata.annotations?.['sluice.dev/held-because']
  if (binding.spec.suspension?.scheduling === true) {
    const says = `scheduling is suspended${held === undefined ? '' : `: ${held}`}`
    finding.links.push({ what: 'schedule', state: 'waits', says })
    finding.trouble ??= { state: 'waits', says, fix: held ?? 'set spec.suspension.scheduling of the binding to false' }
    return
  }
  const condition = binding.status?.conditions?.find(({ type }) => type === SCHEDULED)
  if (condition === undefined) {
    const name = binding.spec.schedulerName ?? DEFAULT_SCHEDULER
    const says = `${name} has not decided yet`
    finding.links.push({ what: 'schedule', state: 'waits', says })
    const fix =
      name === DEFAULT_SCHEDULER
        ? 'see that the fleet runs on this hub: sluice up, or sluice controllers --role hub'
        : `run the scheduler ${name}`
    finding.trouble ??= { state: 'waits', says, fix }
    return
  }
  if (condition.status === 'True') {
    const affinity = record?.affinityName === undefined ? '' : `, by affinity ${record.affinityName}`
    const count = record === undefined ? '' : `: ${record.chosen} of ${record.total} clusters${affinity}`
    finding.links.push({ what: 'schedule', state: 'ok', says: `scheduled${count}` })
    return
  }
  const says = `not scheduled (${condition.reason ?? 'unknown'}): ${condition.message ?? ''}`
  finding.links.push({ what: 'schedule', state: 'fails', says })
  finding.trouble ??= { state: 'fails', says, fix: scheduleFix(condition.reason ?? '', record) }
}

/** Derived from the reason that most clusters gave. */
function scheduleFix(reason: string, record: DecisionRecord | undefined): string {
  const [most] = Object.entries(record?.others ?? {}).sort(([a, x], [b, y]) => y - x || compareStrings(a, b))
  if (reason === 'Unschedulable') return 'ask for fewer replicas or smaller ones, let more clusters in by the placement, or free some room'
  if (record?.total === 0) return 'join a cluster: sluice join NAME --cluster-kubeconfig FILE'
  if (most === undefined) return 'see the message; the decision is made again as soon as clusters or the policy change'
  if (most[0].includes('affinity')) return 'let the placement of the policy name clusters that exist, or label them so that it does'
  if (most[0].includes('taint')) return 'take the taint away, or tolerate it in the placement (clusterTolerations)'
  if (most[0].includes('API resource')) return 'install the definition of this kind in a cluster, or place it where it is'
  return `most clusters say: ${most[0]}`
}

const where = (namespace: string, name: string): string => (namespace === '' ? name : `${namespace}/${name}`)

const priorityOf = ({ spec }: Policy): string => ((spec?.priority ?? 0) === 0 ? '' : `, priority ${spec?.priority}`)

function replicasText({ spec }: Binding): string {
  if ((spec.components?.length ?? 0) > 0) return `, ${spec.components?.map(({ name, replicas }) => `${replicas} × ${name}`).join(' + ')}`
  return spec.replicas === undefined ? '' : `, ${spec.replicas} replica${spec.replicas === 1 ? '' : 's'}`
}

function wellIn(clusters: readonly ClusterLink[]): string {
  const names = clusters.filter(({ isChosen }) => isChosen).map(({ name }) => name)
  return names.length === 0 ? 'it is placed nowhere, as decided' : `it is applied and healthy in ${names.join(', ')}`
}
