/** Kubernetes types used in Karmada's kinds: selectors, taints, tolerations, conditions, amounts. */
import type { Condition } from '../../kube/conditions.ts'
import { type Static, s, type Typed } from '../schema/builder.ts'

export const GROUPS = Object.freeze({
  cluster: 'cluster.karmada.io',
  policy: 'policy.karmada.io',
  work: 'work.karmada.io',
  config: 'config.karmada.io',
})
export const CATEGORIES = ['karmada-io'] as const
export const AGE_COLUMN = { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' } as const

const requirement = (what: string) =>
  s.object(
    {
      key: s.string({ description: `The ${what} that is looked at.` }),
      operator: s.string({ description: 'How it is compared with the values.' }),
      values: s.optional(s.array(s.string(), { listType: 'atomic', description: 'What it is compared with.' })),
    },
    { description: `One demand on a ${what}.` },
  )

export const labelSelector = (description: string) =>
  s.object(
    {
      matchExpressions: s.optional(
        s.array(requirement('label key'), { listType: 'atomic', description: 'Demands that must all be fulfilled.' }),
      ),
      matchLabels: s.optional(s.map(s.string(), { description: 'Labels that must be there with these values.' })),
    },
    { mapType: 'atomic', description },
  )

export const fieldRequirements = (description: string) => s.array(requirement('field'), { description })

const nodeTerms = (description: string) => s.optional(s.array(requirement('node label'), { listType: 'atomic', description }))

export const nodeSelector = s.object(
  {
    nodeSelectorTerms: s.array(
      s.object(
        { matchExpressions: nodeTerms('Demands on labels of the node.'), matchFields: nodeTerms('Demands on fields of the node.') },
        { mapType: 'atomic' },
      ),
      { listType: 'atomic', description: 'Terms of which one must be fulfilled.' },
    ),
  },
  { mapType: 'atomic', description: 'Nodes that can take the pods.' },
)

export const toleration = s.object(
  {
    effect: s.optional(s.string({ description: 'The effect that is tolerated; empty: any.' })),
    key: s.optional(s.string({ description: 'The key of the taint; empty with operator Exists: any.' })),
    operator: s.optional(s.string({ description: 'Exists or Equal (default).' })),
    tolerationSeconds: s.optional(s.int64({ description: 'How long a NoExecute taint is tolerated; absent: for ever.' })),
    value: s.optional(s.string({ description: 'The value of the taint, with operator Equal.' })),
  },
  { description: 'A taint that is put up with.' },
)

export const taint = s.object(
  {
    effect: s.string({ description: 'NoSchedule, PreferNoSchedule or NoExecute.' }),
    key: s.string({ description: 'The key of the taint.' }),
    timeAdded: s.optional(s.time({ description: 'When the taint was added.' })),
    value: s.optional(s.string({ description: 'The value of the taint.' })),
  },
  { description: 'What keeps work away from a cluster.' },
)

/** metav1.Condition; typed as the functions over conditions have it. */
export const conditions = (description: string) =>
  s.array(
    s.object({
      lastTransitionTime: s.time({ description: 'When the status last changed.' }),
      message: s.string({ description: 'For people.', maxLength: 32768 }),
      observedGeneration: s.optional(s.int64({ description: 'The generation this was said about.', minimum: 0 })),
      reason: s.string({
        description: 'For programs, in one word.',
        minLength: 1,
        maxLength: 1024,
        pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      }),
      status: s.literals(['True', 'False', 'Unknown'], { description: 'Whether it holds.' }),
      type: s.string({
        description: 'What is said.',
        maxLength: 316,
        pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
      }),
    }) as Typed<Condition>,
    { description },
  )

export const resourceList = (description: string) => s.map(s.quantity(), { description })
export const strings = (description: string) => s.array(s.string(), { description })

export type Toleration = Static<typeof toleration>
export type Taint = Static<typeof taint>
export type ResourceList = Record<string, number | string>
