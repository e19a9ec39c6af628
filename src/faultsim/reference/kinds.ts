/**
 * The made-up kinds of the reference controllers. A Greeting sends its text to people: a ConfigMap for each of them, and a
 * notice on a board outside the cluster. A Card is what greetings are written on, and says which ones are.
 */

import type { Condition } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'

export interface Greeting extends KubeObject {
  spec?: {
    text?: string
    /** People; each gets a ConfigMap. */
    to?: string[]
    /** Name of the Card it is written on, in the same namespace. */
    card?: string
    /** The greeting deletes itself this long after its creation. */
    ttlSeconds?: number
  }
  status?: {
    observedGeneration?: number
    /** How many people have received it. */
    delivered?: number
    /** Generation whose text is on the board. */
    postedGeneration?: number
    /** While it is ready, the uid of the card that counts it: a new card of the same name does not count. */
    countedOn?: string
    conditions?: Condition[]
  }
}

/** A greeting as it was when counted: a new uid or generation under the same name is a different one. */
export interface Use {
  name: string
  uid: string
  generation: number
}

export interface Card extends KubeObject {
  status?: {
    /** The greetings written on it, by name: recomputed whole from the greetings. */
    usedBy?: Use[]
  }
}

const GROUP = 'example.sluice.dev'
export const GREETINGS: Resource<Greeting> = { group: GROUP, version: 'v1', plural: 'greetings', kind: 'Greeting', namespaced: true }
export const CARDS: Resource<Card> = { group: GROUP, version: 'v1', plural: 'cards', kind: 'Card', namespaced: true }

const text = { type: 'string' }
const count = { type: 'integer' }
const texts = { type: 'array', items: text }
const use = { type: 'object', properties: { name: text, uid: text, generation: count } }
const condition = {
  type: 'object',
  required: ['type', 'status'],
  properties: { type: text, status: text, reason: text, message: text, lastTransitionTime: text, observedGeneration: count },
}

export const DEFINITIONS: readonly KubeObject[] = [
  definition(GREETINGS, {
    spec: { type: 'object', properties: { text, to: texts, card: text, ttlSeconds: count } },
    status: {
      type: 'object',
      properties: {
        observedGeneration: count,
        delivered: count,
        postedGeneration: count,
        countedOn: text,
        conditions: { type: 'array', items: condition, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
      },
    },
  }),
  definition(CARDS, { status: { type: 'object', properties: { usedBy: { type: 'array', items: use } } } }),
]

function definition({ plural, kind, version }: Resource, properties: Record<string, unknown>): KubeObject {
  const names = { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` }
  const schema = { openAPIV3Schema: { type: 'object', properties } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names,
      versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
    },
  }
}
