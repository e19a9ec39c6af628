/**
 * Why a template is where it is: the chain from the template over its policy, its binding and the decision to each cluster,
 * its Work and the object there, and the first broken link. Pure.
 */
import type { Binding, Policy } from '../../kinds/karmada/index.ts'
import type { ExplainedLinks, Explainer } from '../../runtime/seams/explainer.ts'
import { WAITING_BECAUSE } from '../detector/binding/annotations.ts'
import { claimOf } from '../detector/claim.ts'
import { readRecord } from '../scheduler/decision.ts'
import type { ClusterLink, Explanation, Finding } from './chain.ts'
import { byCluster, chosenNames, clusterLink } from './cluster-link.ts'
import type { ExplainInput, Part } from './input.ts'
import { nearMisses, policyText } from './policies.ts'
import { explainSchedule } from './schedule.ts'

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
  finding.trouble ??= finding.unhealthy
  if (template !== undefined) explainRights(input, finding)
  const { trouble, links, clusters, others } = finding
  return {
    template: { apiVersion, kind: resource.kind, namespace, name },
    state: trouble?.state ?? 'ok',
    says: trouble?.says ?? (isHidden(input, 'works') ? scheduledTo(clusters) : wellIn(clusters)),
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
  if (policy === undefined && !isHidden(input, 'policies')) {
    const says = `${name} claimed it, and is gone`
    finding.links.push({ what: 'policy', state: 'waits', says })
    finding.trouble ??= { state: 'waits', says, fix: 'nothing: the claim is taken back, and another policy may take it' }
    return
  }
  finding.links.push({
    what: 'policy',
    state: waiting === undefined ? 'ok' : 'waits',
    says: `${name} selects it${policy === undefined ? '' : priorityOf(policy)}`,
  })
  if (waiting !== undefined) finding.trouble ??= { state: 'waits', says: waiting, fix: waiting }
  else if (binding === undefined && !isHidden(input, 'binding'))
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
  const { works } = input
  const clusters = isHidden(input, 'clusters') ? undefined : input.clusters
  explainSchedule(binding, { record, clusters }, finding)
  const context = {
    binding,
    record,
    works: isHidden(input, 'works') ? undefined : byCluster(works),
    clusters: clusters === undefined ? undefined : new Map(clusters.map((one) => [one.metadata.name ?? '', one])),
  }
  finding.clusters.push(...chosenNames(binding, works).map((name) => clusterLink(name, context, finding)))
  for (const { name, chosen, why } of record?.clusters ?? [])
    if (!chosen && !finding.clusters.some((one) => one.name === name)) finding.clusters.push({ name, isChosen: false, why, state: 'ok' })
  finding.others = { ...record?.others }
}

const isHidden = ({ unreadable = [] }: ExplainInput, part: Part): boolean => unreadable.includes(part)

const RIGHTS: Record<Part, string> = {
  policies: 'policies',
  binding: 'its binding',
  clusters: 'clusters',
  works: 'Works',
}

/** What the explanation does not contain because whoever asks may not read it. */
function explainRights(input: ExplainInput, finding: Finding): void {
  const { unreadable = [], subject } = input
  if (unreadable.length === 0) return
  finding.links.push({ what: 'rights', state: 'ok', says: `you may not read ${unreadable.map((part) => RIGHTS[part]).join(', ')}` })
  if (!isHidden(input, 'binding')) return
  const bindings = subject.resource.namespaced ? `resourcebindings in namespace ${subject.namespace}` : 'clusterresourcebindings'
  const says = 'its binding, which says where it is, may not be read by you'
  finding.trouble ??= { state: 'waits', says, fix: `ask an administrator for the right to read ${bindings}` }
}

const where = (namespace: string, name: string): string => (namespace === '' ? name : `${namespace}/${name}`)

const priorityOf = ({ spec }: Policy): string => ((spec?.priority ?? 0) === 0 ? '' : `, priority ${spec?.priority}`)

function replicasText({ spec }: Binding): string {
  if ((spec.components?.length ?? 0) > 0) return `, ${spec.components?.map(({ name, replicas }) => `${replicas} × ${name}`).join(' + ')}`
  return spec.replicas === undefined ? '' : `, ${spec.replicas} replica${spec.replicas === 1 ? '' : 's'}`
}

const NOWHERE = 'it is placed nowhere, as decided'

const chosenOf = (clusters: readonly ClusterLink[]): string[] => clusters.filter(({ isChosen }) => isChosen).map(({ name }) => name)

function wellIn(clusters: readonly ClusterLink[]): string {
  const names = chosenOf(clusters)
  return names.length === 0 ? NOWHERE : `it is applied and healthy in ${names.join(', ')}`
}

/** For those who cannot see more. */
function scheduledTo(clusters: readonly ClusterLink[]): string {
  const names = chosenOf(clusters)
  return names.length === 0 ? NOWHERE : `it is scheduled to ${names.join(', ')}; how it is doing there may not be read by you`
}
