/**
 * The objects of a runtime: those that it should have, in the order in which they are made, next to those that exist. What
 * belongs to somebody else is found here, and never touched. Pure.
 */
import type { AdvancedStatefulSet } from '../../kinds/fluid/index.ts'
import { ADVANCED_STATEFUL_SETS } from '../../kinds/fluid/resources.ts'
import { CONFIG_MAPS, DAEMON_SETS, SERVICES } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { controllerOf } from '../../runtime/workloads/pod/ownership.ts'
import type { Prepared } from '../engines/engine.ts'
import { canonical } from './canonical.ts'
import { withOrdinals } from './scale.ts'
import { withTemplateHash } from './template-hash.ts'

/** What a runtime may own and this controller makes; the order is that of creation. */
export const OWNED_RESOURCES: readonly Resource[] = [CONFIG_MAPS, SERVICES, ADVANCED_STATEFUL_SETS, DAEMON_SETS]

export interface Part {
  resource: Resource
  wanted: KubeObject
  /** What exists under its name. */
  live: KubeObject | undefined
}

type Find = (resource: Resource, name: string) => KubeObject | undefined

/** How the set of the workers is to be, seen from the one that there is. */
type Scale = (wanted: AdvancedStatefulSet, live: AdvancedStatefulSet | undefined) => AdvancedStatefulSet

export function partsOf({ objects, components }: Prepared, find: Find, scale: Scale = withOrdinals): Part[] {
  const part = (resource: Resource, wanted: KubeObject): Part => ({ resource, wanted, live: find(resource, wanted.metadata.name ?? '') })
  const sets = objects.sets.map((set) => {
    const wanted = withTemplateHash(set)
    const found = part(ADVANCED_STATEFUL_SETS, wanted)
    const isWorker = set.metadata.name === components.worker?.name
    return isWorker ? { ...found, wanted: scale(wanted, found.live as AdvancedStatefulSet | undefined) } : found
  })
  return [
    ...objects.configMaps.map((map) => part(CONFIG_MAPS, map)),
    ...objects.services.map((service) => part(SERVICES, service)),
    ...sets,
    ...objects.daemonSets.map((set) => part(DAEMON_SETS, withTemplateHash(canonical(DAEMON_SETS, set)))),
  ]
}

export const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

export const isOf = (object: KubeObject, runtime: KubeObject): boolean => controllerOf(object)?.uid === runtime.metadata.uid

/** Another class can have a set found under another name, or under none; pods of a set keep the name they were made with. */
export function mustBeReplaced({ wanted, live }: Part): boolean {
  const nameIn = ({ kind, spec }: KubeObject): string | undefined =>
    kind === ADVANCED_STATEFUL_SETS.kind ? (spec as AdvancedStatefulSet['spec'] | undefined)?.serviceName : undefined
  return live !== undefined && nameIn(live) !== nameIn(wanted)
}

/** Why an object that exists cannot be used, as a sentence; undefined when none is in the way. */
export function takenBy(runtime: KubeObject, parts: readonly Part[]): string | undefined {
  const taken = parts.find(({ live }) => live !== undefined && !isOf(live, runtime))?.live
  if (taken === undefined) return undefined
  const { kind, name } = { kind: taken.kind, name: taken.metadata.name ?? '' }
  const owner = controllerOf(taken)
  if (owner?.kind === runtime.kind && owner.name === runtime.metadata.name)
    return `${kind} ${name} still belongs to an earlier ${runtime.kind} of this name: it is waited for until that is removed`
  const whose = owner === undefined ? 'was not made for this runtime' : `belongs to ${owner.kind} ${owner.name}`
  return `${kind} ${name} exists and ${whose}: delete it, or give the Dataset and its runtime another name`
}

/** Owned objects that are not wanted any more: of a component that was disabled, or a ConfigMap that was dropped. */
export function surplusOf(owned: readonly OwnedObject[], parts: readonly Part[]): OwnedObject[] {
  const keyOf = ({ plural }: Resource, { metadata }: KubeObject): string => `${plural}/${metadata.name ?? ''}`
  const wanted = new Set(parts.map(({ resource, wanted: object }) => keyOf(resource, object)))
  return owned.filter(({ resource, object }) => !wanted.has(keyOf(resource, object)) && !isGoing(object))
}

export interface OwnedObject {
  resource: Resource
  object: KubeObject
}
