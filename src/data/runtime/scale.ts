/**
 * How many workers there are, and which: `replicas` and `reserveOrdinals` of their set change in one write, because together
 * they say which pods go. Pure.
 */
import type { AdvancedStatefulSet } from '../../kinds/fluid/index.ts'

type Reserved = NonNullable<AdvancedStatefulSet['spec']['reserveOrdinals']>

/** The set of the workers as it is to be applied, seen from the one that exists. */
export function withOrdinals(wanted: AdvancedStatefulSet, live: AdvancedStatefulSet | undefined): AdvancedStatefulSet {
  const [from, to] = [live?.spec.replicas ?? 0, wanted.spec.replicas ?? 1]
  const reserved = live?.spec.reserveOrdinals ?? []
  const reserveOrdinals = to > from ? NONE : to < from ? afterScaleIn(reserved) : reserved
  return { ...wanted, spec: { ...wanted.spec, reserveOrdinals } }
}

/** More workers than before: ordinals that were left out are used again first, so that nothing moves more than it must. */
const NONE: Reserved = []

/**
 * The place where victims are chosen: the ordinals of those that leave would be added here. Until then the pods with the
 * highest ordinals leave, as in Kubernetes.
 */
const afterScaleIn = (reserved: Reserved): Reserved => reserved
