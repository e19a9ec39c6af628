/** Where our definitions differ from Fluid's on purpose, and why. */
import type { Difference } from './definition-paths.ts'

interface Meant {
  where: RegExp
  what: RegExp
  reason: string
}

const MEANT: readonly Meant[] = [
  {
    where: /^cacheruntimes\.data\.fluid\.io v1alpha1$/,
    what: /^(subresources|columns): /,
    reason: 'a CacheRuntime can be scaled, and its columns show fields that exist: Fluid prints .status.phase, which nothing has',
  },
  {
    where: /^jindoruntimes\.data\.fluid\.io v1alpha1$/,
    what: /^subresources: /,
    reason: 'an autoscaler finds the workers of a JindoRuntime by its selector, as it does those of its like',
  },
  {
    where: /^advancedstatefulsets\.workload\.fluid\.io v1alpha1 \.spec\.(template|volumeClaimTemplates)$/,
    what: /^(type|x-kubernetes-preserve-unknown-fields): /,
    reason: 'templates of an AdvancedStatefulSet are checked when they are written, not when the first pod or claim is made',
  },
  {
    where: /^advancedstatefulsets\.workload\.fluid\.io v1alpha1 \.$/,
    what: /^required: /,
    reason: 'an AdvancedStatefulSet without a spec has no selector and no template: nothing can be made of it',
  },
]

export const reasonFor = ({ where, what }: Difference): string | undefined =>
  MEANT.find((meant) => meant.where.test(where) && meant.what.test(what))?.reason
