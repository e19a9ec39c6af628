/**
 * How far the owner of one namespace of the hub reaches with each kind of the fleet that lives in a namespace: a story for
 * every cell of the table in SECURITY.md (`test/docs/reach.test.ts` compares them).
 */
import assert from 'node:assert/strict'
import { resourceOfObject } from '../../../src/faultsim/world/resources.ts'
import { bindingName } from '../../../src/kinds/karmada/names.ts'
import { CONFLICT_RESOLUTION_ANNOTATION, DEPENDENCIES_ANNOTATION } from '../../../src/kinds/karmada/well-known.ts'
import { CLUSTER_ROLES, CONFIG_MAPS, SECRETS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import { eventAppears, reaches, refusalOf } from '../expectations.ts'
import {
  aClusterPropagationPolicy,
  aClusterRole,
  aConfigMap,
  anOverridePolicy,
  aPropagationPolicy,
  aRole,
  aSecret,
  on,
  selectorOf,
} from '../manifests.ts'
import type { FleetArea, FleetStory, FleetTestbed, Place } from '../story.ts'

/** What there is to reach; the columns of the table. */
export const REACHES = [
  'its own namespace',
  'another namespace',
  'objects without a namespace',
  'namespaces of the fleet',
  'another object',
  'permissions',
  'what a member has already',
] as const
type Reach = (typeof REACHES)[number]

const ROLES: Resource = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'roles', kind: 'Role', namespaced: true }
const ALL_RIGHTS = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]

const first = ({ members: [member] }: FleetTestbed): Place => member
const dataOf = (object: KubeObject | undefined): unknown => object?.data

/** A namespace of somebody else, with a ConfigMap that nobody propagates. */
async function theirs(testbed: FleetTestbed): Promise<{ namespace: string; object: KubeObject }> {
  const namespace = testbed.unique('theirs')
  await testbed.hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const map = aConfigMap('private')
  return { namespace, object: await testbed.hub.create({ ...map, metadata: { ...map.metadata, namespace } }) }
}

async function isInNoMember(testbed: FleetTestbed, resource: Resource, name: string, namespace?: string): Promise<void> {
  await testbed.settle()
  for (const member of testbed.members)
    assert.equal(await member.get(resource, name, { namespace }), undefined, `${name} in ${member.name}`)
}

/** What a member had before the hub sent anything. */
const taken = (testbed: FleetTestbed): Promise<KubeObject> => first(testbed).create(aConfigMap('mine', { key: 'of the member' }))

const propagate = (testbed: FleetTestbed, object: KubeObject, more: Record<string, unknown> = {}): Promise<KubeObject> =>
  testbed.hub.create(aPropagationPolicy('mine', [selectorOf(object)], on(first(testbed)), more))

const PROPAGATION_POLICY: Readonly<Record<Reach, (testbed: FleetTestbed) => Promise<void>>> = {
  async 'its own namespace'(testbed) {
    await propagate(testbed, await testbed.hub.create(aSecret('mine')))
    await reaches(testbed, SECRETS, 'mine', [first(testbed)])
  },
  async 'another namespace'(testbed) {
    const { namespace, object } = await theirs(testbed)
    const selecting = (of: string | undefined): KubeObject =>
      aPropagationPolicy('mine', [{ ...selectorOf(object), namespace: of }], on(first(testbed)))
    assert.match(await refusalOf(testbed.hub.create(selecting(namespace))), /must be the same as the namespace of the policy/)
    await testbed.hub.create(selecting(undefined))
    await isInNoMember(testbed, CONFIG_MAPS, 'private', namespace)
  },
  async 'objects without a namespace'(testbed) {
    const role = await testbed.hub.create(aClusterRole(testbed.unique('role')))
    await propagate(testbed, role)
    await isInNoMember(testbed, CLUSTER_ROLES, role.metadata.name ?? '')
  },
  async 'namespaces of the fleet'(testbed) {
    const selector = { apiVersion: 'v1', kind: 'Secret', name: 'member1', namespace: 'karmada-cluster' }
    const policy = aPropagationPolicy('mine', [selector], on(first(testbed)))
    assert.match(await refusalOf(testbed.hub.create(policy)), /must be the same as the namespace of the policy/)
    const name = testbed.unique('credentials')
    const secret = aSecret(name)
    await testbed.hub.create({ ...secret, metadata: { name, namespace: 'karmada-cluster' } })
    await testbed.hub.create({
      ...policy,
      metadata: { name, namespace: 'karmada-cluster' },
      spec: { ...(policy.spec as object), resourceSelectors: [{ ...selector, name }] },
    })
    await isInNoMember(testbed, SECRETS, name, 'karmada-cluster')
  },
  async 'another object'(testbed) {
    await propagate(testbed, await testbed.hub.create(aConfigMap('mine')))
    await reaches(testbed, CONFIG_MAPS, 'mine', [first(testbed)], (object) => dataOf(object) !== undefined)
  },
  async permissions(testbed) {
    const role = await testbed.hub.create(aRole('mine'))
    await propagate(testbed, role)
    await reaches(testbed, ROLES, 'mine', [first(testbed)])
    assert.deepEqual((await first(testbed).get(ROLES, 'mine'))?.rules, role.rules)
  },
  async 'what a member has already'(testbed) {
    await testbed.until('the namespace in the member', () => hasNamespace(testbed))
    await taken(testbed)
    await propagate(testbed, await testbed.hub.create(aConfigMap('mine')), { conflictResolution: 'Overwrite' })
    await reaches(testbed, CONFIG_MAPS, 'mine', [first(testbed)], (object) => JSON.stringify(dataOf(object)) === '{"key":"value"}')
  },
}

const NAMESPACES: Resource = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false }
const hasNamespace = async (testbed: FleetTestbed): Promise<boolean> =>
  (await first(testbed).get(NAMESPACES, testbed.namespace)) !== undefined

/** Somebody propagates it to the first member, and the owner of the namespace changes it on its way. */
async function overridden(testbed: FleetTestbed, object: KubeObject, overriders: Record<string, unknown>): Promise<void> {
  await testbed.hub.create(anOverridePolicy('mine', { selectors: [selectorOf(object)], rules: [{ overriders }] }))
  await testbed.hub.create(aClusterPropagationPolicy(testbed.unique('all'), [selectorOf(object)], on(first(testbed))))
}

const plaintext = (...operations: readonly (readonly [string, unknown])[]): Record<string, unknown> => ({
  plaintext: operations.map(([path, value]) => ({ path, operator: 'add', value })),
})

const isNotOverridden = (testbed: FleetTestbed, why: RegExp): Promise<void> => eventAppears(testbed, 'ApplyOverridePolicyFailed', why)

const OVERRIDE_POLICY: Readonly<Record<Reach, (testbed: FleetTestbed) => Promise<void>>> = {
  async 'its own namespace'(testbed) {
    const map = await testbed.hub.create(aConfigMap(testbed.unique('mine')))
    await overridden(testbed, map, plaintext(['/data/key', 'changed']))
    await reaches(testbed, CONFIG_MAPS, map.metadata.name ?? '', [first(testbed)], ({ data }) => data?.key === 'changed')
  },
  async 'another namespace'(testbed) {
    const { namespace, object } = await theirs(testbed)
    const rules = [{ overriders: plaintext(['/data/key', 'changed']) }]
    const selecting = (of: string | undefined): KubeObject =>
      anOverridePolicy('mine', { selectors: [{ ...selectorOf(object), namespace: of }], rules })
    assert.match(await refusalOf(testbed.hub.create(selecting(namespace))), /must be the same as the namespace of the policy/)
    await testbed.hub.create(selecting(undefined))
    const selector = { ...selectorOf(object), namespace }
    await testbed.hub.create(aClusterPropagationPolicy(testbed.unique('all'), [selector], on(first(testbed))))
    await testbed.until('it is there', async () => (await first(testbed).get(CONFIG_MAPS, 'private', { namespace })) !== undefined)
    assert.deepEqual(dataOf(await first(testbed).get(CONFIG_MAPS, 'private', { namespace })), { key: 'value' })
  },
  async 'objects without a namespace'(testbed) {
    const role = await testbed.hub.create(aClusterRole(testbed.unique('role')))
    await overridden(testbed, role, { labelsOverrider: [{ operator: 'add', value: { changed: 'yes' } }] })
    await testbed.until('it is there', async () => (await first(testbed).get(CLUSTER_ROLES, role.metadata.name ?? '')) !== undefined)
    await testbed.settle()
    assert.equal((await first(testbed).get(CLUSTER_ROLES, role.metadata.name ?? ''))?.metadata.labels?.changed, undefined)
  },
  async 'namespaces of the fleet'(testbed) {
    const selectors = [{ apiVersion: 'v1', kind: 'Secret', namespace: 'karmada-cluster' }]
    const policy = anOverridePolicy('mine', { selectors, rules: [{ overriders: plaintext(['/data', {}]) }] })
    assert.match(await refusalOf(testbed.hub.create(policy)), /must be the same as the namespace of the policy/)
    const map = await testbed.hub.create(aConfigMap(testbed.unique('mine')))
    await overridden(testbed, map, plaintext(['/metadata/namespace', 'karmada-cluster']))
    await isNotOverridden(testbed, /metadata\.namespace would change/)
    await isInNoMember(testbed, CONFIG_MAPS, map.metadata.name ?? '', 'karmada-cluster')
  },
  async 'another object'(testbed) {
    const name = testbed.unique('mine')
    const map = await testbed.hub.create(aConfigMap(name))
    const [kind, ...admin] = [aClusterRole(name).kind, ['/rules', ALL_RIGHTS], ['/apiVersion', 'rbac.authorization.k8s.io/v1']] as const
    await overridden(testbed, map, {
      plaintext: [...admin, ['/kind', kind] as const]
        .map(([path, value]): Record<string, unknown> => ({ path, operator: 'add', value }))
        .concat({ path: '/metadata/namespace', operator: 'remove' }),
    })
    await isNotOverridden(testbed, /apiVersion would change/)
    await isInNoMember(testbed, CLUSTER_ROLES, name)
  },
  async permissions(testbed) {
    const role = await testbed.hub.create(aRole(testbed.unique('mine')))
    await overridden(testbed, role, plaintext(['/rules', ALL_RIGHTS]))
    await isNotOverridden(testbed, /only a ClusterOverridePolicy changes what permissions grant/)
    await isInNoMember(testbed, ROLES, role.metadata.name ?? '')
  },
  async 'what a member has already'(testbed) {
    await testbed.until('the namespace in the member', () => hasNamespace(testbed))
    await taken(testbed)
    const map = await testbed.hub.create(aConfigMap('mine'))
    await propagate(testbed, map)
    await testbed.hub.create(
      anOverridePolicy('mine', {
        selectors: [selectorOf(map)],
        rules: [{ overriders: { annotationsOverrider: [{ operator: 'add', value: { [CONFLICT_RESOLUTION_ANNOTATION]: 'overwrite' } }] } }],
      }),
    )
    await reaches(testbed, CONFIG_MAPS, 'mine', [first(testbed)], (object) => JSON.stringify(dataOf(object)) === '{"key":"value"}')
  },
}

/** As somebody writes it who needs no policy. */
function aBinding(testbed: FleetTestbed, { apiVersion, kind, metadata }: KubeObject, more: Record<string, unknown> = {}): KubeObject {
  const { namespace, name = '', uid } = metadata
  const resource = { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name, uid }
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { name: bindingName(kind, name) },
    spec: { resource, clusters: [{ name: first(testbed).name }], ...more },
  }
}

const RESOURCE_BINDING: Readonly<Record<Reach, (testbed: FleetTestbed) => Promise<void>>> = {
  async 'its own namespace'(testbed) {
    await testbed.hub.create(aBinding(testbed, await testbed.hub.create(aSecret('mine'))))
    await reaches(testbed, SECRETS, 'mine', [first(testbed)])
  },
  async 'another namespace'(testbed) {
    const { namespace, object } = await theirs(testbed)
    assert.match(await refusalOf(testbed.hub.create(aBinding(testbed, object))), /must be the namespace of the binding/)
    await isInNoMember(testbed, CONFIG_MAPS, 'private', namespace)
  },
  async 'objects without a namespace'(testbed) {
    const role = await testbed.hub.create(aClusterRole(testbed.unique('role')))
    const { apiVersion, kind, metadata } = role
    await testbed.hub.create(aBinding(testbed, role))
    const map = aBinding(testbed, await testbed.hub.create(aConfigMap('mine')), { propagateDeps: true })
    const annotations = { [DEPENDENCIES_ANNOTATION]: JSON.stringify([{ apiVersion, kind, name: metadata.name }]) }
    await testbed.hub.create({ ...map, metadata: { ...map.metadata, annotations } })
    await reaches(testbed, CONFIG_MAPS, 'mine', [first(testbed)])
    await isInNoMember(testbed, CLUSTER_ROLES, metadata.name ?? '')
  },
  async 'namespaces of the fleet'(testbed) {
    const name = testbed.unique('credentials')
    const secret = aSecret(name)
    const stored = await testbed.hub.create({ ...secret, metadata: { name, namespace: 'karmada-cluster' } })
    const binding = aBinding(testbed, stored)
    assert.match(await refusalOf(testbed.hub.create(binding)), /never propagated/)
    const there = { ...binding, metadata: { ...binding.metadata, namespace: 'karmada-cluster' } }
    assert.match(await refusalOf(testbed.hub.create(there)), /never propagated/)
    await isInNoMember(testbed, SECRETS, name, 'karmada-cluster')
  },
  async 'another object'(testbed) {
    const { namespace, object } = await theirs(testbed)
    const mine = await testbed.hub.create(aConfigMap('mine'))
    const binding = aBinding(testbed, mine)
    const resource = { ...(binding.spec as { resource: object }).resource, uid: object.metadata.uid }
    await testbed.hub.create({ ...binding, spec: { ...(binding.spec as object), resource } })
    await isInNoMember(testbed, CONFIG_MAPS, 'private', namespace)
    await isInNoMember(testbed, CONFIG_MAPS, 'mine')
  },
  async permissions(testbed) {
    const role = await testbed.hub.create(aRole('mine'))
    await testbed.hub.create(aBinding(testbed, role))
    await reaches(testbed, ROLES, 'mine', [first(testbed)])
    assert.deepEqual((await first(testbed).get(ROLES, 'mine'))?.rules, role.rules)
  },
  async 'what a member has already'(testbed) {
    await testbed.until('the namespace in the member', () => hasNamespace(testbed))
    await taken(testbed)
    await testbed.hub.create(aBinding(testbed, await testbed.hub.create(aConfigMap('mine')), { conflictResolution: 'Overwrite' }))
    await reaches(testbed, CONFIG_MAPS, 'mine', [first(testbed)], (object) => JSON.stringify(dataOf(object)) === '{"key":"value"}')
  },
}

/** Outside the namespaces of clusters a Work is a piece of paper, whatever it says. */
async function isPaper(testbed: FleetTestbed, object: KubeObject): Promise<void> {
  await testbed.hub.create({
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: { name: 'mine' },
    spec: { workload: { manifests: [object] } },
  })
  const { namespace, name = '' } = object.metadata
  await isInNoMember(testbed, resourceOfObject(object), name, namespace)
}

const within = (object: KubeObject, namespace: string): KubeObject => ({ ...object, metadata: { ...object.metadata, namespace } })

const WORK: Readonly<Record<Reach, (testbed: FleetTestbed) => Promise<void>>> = {
  'its own namespace': (testbed) => isPaper(testbed, within(aConfigMap('mine'), testbed.namespace)),
  async 'another namespace'(testbed) {
    const { namespace } = await theirs(testbed)
    await isPaper(testbed, within(aConfigMap('mine'), namespace))
  },
  'objects without a namespace': (testbed) => isPaper(testbed, aClusterRole(testbed.unique('role'))),
  'namespaces of the fleet': (testbed) => isPaper(testbed, within(aSecret(testbed.unique('credentials')), 'karmada-cluster')),
  'another object': (testbed) => isPaper(testbed, within(aConfigMap(testbed.unique('mine')), 'kube-system')),
  permissions: (testbed) => isPaper(testbed, { ...within(aRole('mine'), testbed.namespace), rules: ALL_RIGHTS }),
  async 'what a member has already'(testbed) {
    await testbed.until('the namespace in the member', () => hasNamespace(testbed))
    await taken(testbed)
    const annotations = { [CONFLICT_RESOLUTION_ANNOTATION]: 'overwrite' }
    const map = within(aConfigMap('mine'), testbed.namespace)
    await testbed.hub.create({
      apiVersion: 'work.karmada.io/v1alpha1',
      kind: 'Work',
      metadata: { name: 'mine', annotations },
      spec: { workload: { manifests: [{ ...map, metadata: { ...map.metadata, annotations } }] } },
    } as KubeObject)
    await testbed.settle()
    assert.deepEqual(dataOf(await first(testbed).get(CONFIG_MAPS, 'mine')), { key: 'of the member' })
  },
}

const storiesOf = (kind: string, reached: Readonly<Record<Reach, (testbed: FleetTestbed) => Promise<void>>>): FleetStory[] =>
  REACHES.map((reach) => ({ name: `${kind}: ${reach}`, run: reached[reach] }))

export const reach: FleetArea = {
  name: 'reach',
  stories: [
    ...storiesOf('PropagationPolicy', PROPAGATION_POLICY),
    ...storiesOf('OverridePolicy', OVERRIDE_POLICY),
    ...storiesOf('ResourceBinding', RESOURCE_BINDING),
    ...storiesOf('Work', WORK),
  ],
}
