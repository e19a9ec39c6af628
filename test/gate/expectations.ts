/** What stories of the gate check: what a claim says, whether a workload is held or released, and that something did not change. */
import assert from 'node:assert/strict'
import type { Binding } from '../../src/kinds/karmada/index.ts'
import { DEPLOYMENTS, PODS } from '../../src/kinds/kubernetes/resources.ts'
import type { DataSource, DataSourceClaim } from '../../src/kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../src/kinds/volcano/resources.ts'
import { PLACEMENT_INJECTED } from '../../src/kinds/volcano/well-known.ts'
import { findCondition, isConditionTrue } from '../../src/kube/conditions.ts'
import type { Resource } from '../../src/kube/resource.ts'
import { HELD_BECAUSE, HELD_BY, HELD_REASON, NARROWED_BY, RELEASED, releasedAllow } from '../../src/runtime/seams/narrowing.ts'
import { bindingOf, isPlaced, type Placing, type Shares, sharesOf } from '../fleet/bindings.ts'
import { leaves, workOf } from '../fleet/expectations.ts'
import type { FleetTestbed } from '../fleet/story.ts'

export const claimNamed = (testbed: FleetTestbed, name: string): Promise<DataSourceClaim | undefined> =>
  testbed.hub.get(DATA_SOURCE_CLAIMS, name)

/** The source that was made with `aSource(testbed, base, …)`. */
export const sourceNamed = (testbed: FleetTestbed, base: string): Promise<DataSource | undefined> =>
  testbed.hub.get(DATA_SOURCES, testbed.unique(base))

/** In this order: the first False one is what a claim waits for. */
const CONDITIONS = ['Resolved', 'Ready', 'Placed']

/** Until the claim says that it waits for this. */
export function waitsFor(testbed: FleetTestbed, claim: string, reason: string, message = /./): Promise<void> {
  return testbed.until(`claim ${claim} waits: ${reason} ${message}`, async () => {
    const { metadata, status } = (await claimNamed(testbed, claim)) ?? {}
    const first = CONDITIONS.map((type) => findCondition(status?.conditions, type)).find((one) => one?.status === 'False')
    return first?.reason === reason && message.test(first.message ?? '') && first.observedGeneration === metadata?.generation
  })
}

/** Until the claim has no source. */
export function isPending(testbed: FleetTestbed, claim: string, reason: string, message?: RegExp): Promise<void> {
  return waitsFor(testbed, claim, reason, message).then(async () => {
    const { phase, boundTo, boundDataSource } = (await claimNamed(testbed, claim))?.status ?? {}
    assert.deepEqual([phase, boundTo, boundDataSource], ['Pending', undefined, undefined])
  })
}

/** Until the claim is bound to this object, under whichever of the two names its definition has. */
export function isBoundTo(testbed: FleetTestbed, claim: string, source: string): Promise<void> {
  return testbed.until(`claim ${claim} bound to ${source}`, async () => {
    const { phase, boundTo, boundDataSource, conditions } = (await claimNamed(testbed, claim))?.status ?? {}
    const names = [boundTo, boundDataSource].filter((name) => name !== undefined)
    const isNamed = names.length > 0 && names.every((name) => name === source)
    return phase === 'Bound' && isNamed && ['Resolved', 'Bound'].every((type) => isConditionTrue(conditions, type))
  })
}

/** Until every condition of the claim is True: its data is known, usable, and every workload is where it is. */
export function isSatisfied(testbed: FleetTestbed, claim: string): Promise<void> {
  return testbed.until(`claim ${claim} satisfied`, async () => {
    const { metadata, status } = (await claimNamed(testbed, claim)) ?? {}
    const found = [...CONDITIONS, 'Bound'].map((type) => findCondition(status?.conditions, type))
    return found.every((one) => one?.status === 'True' && one.observedGeneration === metadata?.generation)
  })
}

/** Until the source lists exactly these claims of the story's namespace, under whichever of the two names its definition has. */
export function isUsedBy(testbed: FleetTestbed, base: string, claims: readonly string[]): Promise<void> {
  return testbed.until(`source ${base} used by ${claims.join(', ') || 'nobody'}`, async () => {
    const { claimRef, claimRefs, boundClaims } = (await sourceNamed(testbed, base))?.status ?? {}
    const lists = [claimRef, claimRefs].filter((refs) => refs !== undefined)
    const isListed = lists.every(
      (refs) =>
        [...refs]
          .map(({ name }) => name)
          .sort()
          .join() === [...claims].sort().join(),
    )
    return boundClaims === claims.length && (lists.length > 0 || claims.length === 0) && isListed
  })
}

const MARKS = [HELD_BECAUSE, HELD_REASON, HELD_BY]

const annotationsOf = (binding: Binding | undefined): Record<string, string> => binding?.metadata.annotations ?? {}

/** Until it is held for this reason; then nothing of it is anywhere. */
export async function isHeld(
  testbed: FleetTestbed,
  resource: Resource,
  name: string,
  { reason, message = /./ }: { reason: string; message?: RegExp },
): Promise<void> {
  await testbed.until(`${resource.kind} ${name} is held: ${reason} ${message}`, async () => {
    const binding = await bindingOf(testbed, resource, name)
    const { [HELD_REASON]: found, [HELD_BECAUSE]: because = '' } = annotationsOf(binding)
    return binding?.spec.suspension?.scheduling === true && found === reason && message.test(because)
  })
  await testbed.settle()
  const binding = await bindingOf(testbed, resource, name)
  assert.deepEqual(sharesOf(binding), {}, `${name} is held and must not be scheduled`)
  const { [PLACEMENT_INJECTED]: injected, [RELEASED]: released } = annotationsOf(binding)
  assert.deepEqual([injected, released], [undefined, undefined], `${name} is held and must not count as released`)
  for (const member of testbed.members) assert.equal(await workOf(testbed, member, resource.kind, name), undefined, `a Work of ${name}`)
  await leaves(testbed, resource, name, testbed.members)
}

/** Until it is released and placed so, within what the gate allows; `allow` are those that were allowed, if they are to be checked. */
export async function isReleased(
  testbed: FleetTestbed,
  resource: Resource,
  name: string,
  shares: Shares,
  { allow, ...placing }: Placing & { allow?: readonly string[] } = {},
): Promise<void> {
  await isPlaced(testbed, resource, name, shares, placing)
  await testbed.settle()
  // Still so when nothing changes any more.
  await isPlaced(testbed, resource, name, shares, placing)
  const binding = await bindingOf(testbed, resource, name)
  const annotations = annotationsOf(binding)
  assert.deepEqual(
    MARKS.map((mark) => annotations[mark]),
    MARKS.map(() => undefined),
    `${name} must not be marked as held`,
  )
  assert.equal(annotations[PLACEMENT_INJECTED], 'true')
  const released = releasedAllow(annotations[RELEASED]) ?? []
  assert.deepEqual(
    Object.keys(shares).filter((cluster) => !released.includes(cluster)),
    [],
    `${name} is in clusters that were not allowed`,
  )
  if (allow !== undefined) assert.deepEqual([...released], [...allow].sort())
}

/** For kinds without replicas. */
export const isReleasedIn = (testbed: FleetTestbed, resource: Resource, name: string, places: readonly { name: string }[]): Promise<void> =>
  isReleased(testbed, resource, name, Object.fromEntries(places.map((place) => [place.name, 0])), { replicas: () => 0 })

/** Until the gate has nothing to do with it (any more), and it is placed so. */
export async function isFree(
  testbed: FleetTestbed,
  resource: Resource,
  name: string,
  shares: Shares,
  placing: Placing = {},
): Promise<void> {
  await testbed.until(`${resource.kind} ${name} without marks of the gate`, async () => {
    const annotations = annotationsOf(await bindingOf(testbed, resource, name))
    return [...MARKS, NARROWED_BY, RELEASED, PLACEMENT_INJECTED].every((mark) => annotations[mark] === undefined)
  })
  await isPlaced(testbed, resource, name, shares, placing)
}

/**
 * What must not change when nothing is to happen to running work: the binding's spec (its generation), the objects in the
 * members, and their pods.
 */
export async function footprintOf(testbed: FleetTestbed, name: string, resource: Resource = DEPLOYMENTS): Promise<unknown> {
  await testbed.settle()
  const binding = await bindingOf(testbed, resource, name)
  const inMembers = await Promise.all(
    testbed.members.map(async (member) => {
      const object = await member.get(resource, name)
      const pods = await member.list(PODS, { labelSelector: `app=${name}` })
      return [member.name, object?.metadata.uid, pods.map(({ metadata }) => metadata.uid).sort()]
    }),
  )
  return { clusters: sharesOf(binding), placement: binding?.spec.placement, generation: binding?.metadata.generation, inMembers }
}

/** Where it is, and that it is the same object and the same pods as before. */
export async function whereaboutsOf(testbed: FleetTestbed, name: string): Promise<unknown> {
  const { clusters, inMembers } = (await footprintOf(testbed, name)) as Record<string, unknown>
  return { clusters, inMembers }
}
