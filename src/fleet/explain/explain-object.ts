/** From what users call an object to the explanation of where it is: for a command line or a page. */
import type { Client } from '../../client/client.ts'
import { discoverResources } from '../../client/discovery.ts'
import { namedResource } from '../../client/named-resource.ts'
import { WORKS } from '../../kinds/karmada/resources.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Explainer } from '../../runtime/seams/explainer.ts'
import type { Explanation } from './chain.ts'
import { explain } from './explanation.ts'
import { readExplainInput } from './input.ts'

export interface ExplainRequest {
  /** As users write it: `deploy`, `deployments.apps`. */
  kind: string
  name: string
  /** Where it is looked for if its kind has namespaces. */
  namespace: string
}

export interface Explained {
  resource: Resource
  explanation: Explanation
  /** Whether the hub has the object. */
  isThere: boolean
  /** Whether there is anything to explain: the object, or what was made for it. */
  leavesTrace: boolean
}

/** `no-hub`: the server does not serve Karmada's kinds. `no-resource`: it serves nothing of that name. */
export async function explainObject(
  client: Client,
  request: ExplainRequest,
  explainers: readonly Explainer[] = [],
): Promise<Explained | 'no-hub' | 'no-resource'> {
  const resources = await discoverResources(client)
  if (!resources.some(({ group, plural }) => group === WORKS.group && plural === WORKS.plural)) return 'no-hub'
  const resource = namedResource(resources, request.kind)
  if (resource === undefined) return 'no-resource'
  const namespace = resource.namespaced ? request.namespace : ''
  const input = await readExplainInput(client, { resource, namespace, name: request.name })
  const { template, binding } = input
  const subject = { resource, namespace, name: request.name, template, binding }
  const added = await Promise.all(explainers.map(async ({ at, explain: linksOf }) => ({ at, ...(await linksOf(subject, client)) })))
  const isThere = template !== undefined
  return { resource, explanation: explain(input, added), isThere, leavesTrace: isThere || binding !== undefined }
}
