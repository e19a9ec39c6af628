/** Sentences about policies: which one claimed a template, and why others that look as if they should did not. */
import type { Policy } from '../../kinds/karmada/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Claim } from '../detector/claim.ts'

export const policyText = ({ namespace, name }: Claim): string =>
  namespace === '' ? `ClusterPropagationPolicy ${name}` : `PropagationPolicy ${namespace}/${name}`

const MOST = 3

/** Policies with a selector for its kind, each with the reason why it does not select the template. */
export function nearMisses(template: KubeObject, policies: readonly Policy[]): string[] {
  const misses: string[] = []
  for (const { metadata, spec } of policies) {
    const [selector] = (spec?.resourceSelectors ?? []).filter(({ kind }) => kind === template.kind)
    if (selector === undefined) continue
    const name = policyText({ namespace: metadata.namespace ?? '', name: metadata.name ?? '', id: '' })
    misses.push(`${name} does not: ${reasonOf(template, selector, metadata.deletionTimestamp !== undefined)}`)
  }
  return misses.length <= MOST ? misses : [...misses.slice(0, MOST), `and ${misses.length - MOST} more`]
}

type Selector = NonNullable<Policy['spec']>['resourceSelectors'][number]

function reasonOf(template: KubeObject, selector: Selector, isGoing: boolean): string {
  if (isGoing) return 'it is being deleted'
  if (selector.apiVersion !== template.apiVersion) return `it is about ${selector.apiVersion}, not ${template.apiVersion}`
  const { namespace, name } = template.metadata
  if (selector.namespace && selector.namespace !== namespace) return `it is about namespace ${selector.namespace}`
  if (selector.name) return `it is about ${selector.name}, not ${name}`
  return 'its labelSelector does not match'
}
