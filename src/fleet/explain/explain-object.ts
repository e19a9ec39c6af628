/** From what users call an object to the explanation of where it is: for a command line or a page. */
import type { Client } from '../../client/client.ts'
import { discoverResources } from '../../client/discovery.ts'
import { ifFound } from '../../client/errors.ts'
import { namedResource } from '../../client/named-resource.ts'
import { WORKS } from '../../kinds/karmada/resources.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Explainer, ObjectExplainer } from '../../runtime/seams/explainer.ts'
import type { Explanation } from './chain.ts'
import { explain } from './explanation.ts'
import { readExplainInput, type Subject } from './input.ts'

export interface ExplainRequest {
  /** As users write it: `deploy`, `deployments.apps`. */
  kind: string
  name: string
  /** Where it is looked for if its kind has namespaces. */
  namespace: string
  /** Of the kubeconfig, where one was named. */
  context?: string
}

export interface Explained {
  resource: Resource
  isHub: boolean
  explanation: Explanation
  /** Whether the hub has the object. */
  isThere: boolean
  /** Whether there is anything to explain: the object, or what was made for it. */
  leavesTrace: boolean
}

/** `no-hub`: the server does not serve Karmada's kinds, and nothing else explains the object there. `no-resource`: it serves nothing of that name. */
export async function explainObject(
  client: Client,
  request: ExplainRequest,
  explainers: readonly Explainer[] = [],
): Promise<Explained | 'no-hub' | 'no-resource'> {
  const resources = await discoverResources(client)
  const isHub = resources.some(({ group, plural }) => group === WORKS.group && plural === WORKS.plural)
  const resource = namedResource(resources, request.kind)
  if (resource === undefined) return isHub ? 'no-resource' : 'no-hub'
  const namespace = resource.namespaced ? request.namespace : ''
  const own = explainers.find(({ objects }) => objects?.explains(resource, isHub))?.objects
  if (own !== undefined)
    return explainOwn(own, { resource, namespace, name: request.name }, { client, served: resources, isHub, context: request.context })
  if (!isHub) return 'no-hub'
  const input = await readExplainInput(client, { resource, namespace, name: request.name })
  const { template, binding } = input
  const subject = { resource, namespace, name: request.name, template, binding }
  const added = await Promise.all(explainers.map(async ({ at, explain: linksOf }) => ({ at, ...(await linksOf(subject, client)) })))
  const isThere = template !== undefined
  return { resource, isHub, explanation: explain(input, added), isThere, leavesTrace: isThere || binding !== undefined }
}

/** An object that is no template: its module explains it alone. */
async function explainOwn(
  own: ObjectExplainer,
  subject: Subject,
  { client, served, isHub, context }: { client: Client; served: readonly Resource[]; isHub: boolean; context: string | undefined },
): Promise<Explained> {
  const { resource, namespace, name } = subject
  const object = await ifFound(client.get(resource, { namespace, name }))
  const nothing = explain({ subject, template: undefined, policies: [], binding: undefined, clusters: [], works: [] })
  if (object === undefined) {
    const explanation = isHub ? nothing : { ...nothing, links: [], ...missingHere(subject) }
    return { resource, isHub, explanation, isThere: false, leavesTrace: false }
  }
  const { links, says, trouble } = await own.explain({ ...subject, object, served, ...(context === undefined ? {} : { context }) }, client)
  const { template, clusters, others } = nothing
  const explanation = { template, ...(trouble ?? { state: 'ok' as const, says }), links, clusters, others }
  return { resource, isHub, explanation, isThere: true, leavesTrace: true }
}

/** In a cluster that is no hub. */
const missingHere = ({ resource, namespace, name }: Subject): { says: string; fix: string } => ({
  says: `there is no ${resource.kind} ${namespace === '' ? '' : `${namespace}/`}${name} in this cluster`,
  fix: `create it, name its namespace with -n, or another cluster with --context`,
})
