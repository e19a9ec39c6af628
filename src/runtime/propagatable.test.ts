import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PROPAGATION_POLICIES, RESOURCE_BINDINGS, WORKS } from '../kinds/karmada/resources.ts'
import { CONFIG_MAPS, DEPLOYMENTS, EVENTS, LEASES, PODS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'
import { createPropagatable } from './propagatable.ts'

const custom: Resource = { group: 'example.io', version: 'v1', plural: 'gadgets', kind: 'Gadget', namespaced: true }

describe('kinds that can be propagated', () => {
  const neverTravel = [PROPAGATION_POLICIES.group, WORKS.group]
  const table: [string, Resource, string | undefined, boolean][] = [
    ['a workload', DEPLOYMENTS, undefined, true],
    ['a custom kind', custom, undefined, true],
    ['events', EVENTS, undefined, false],
    ['events of the newer group', { ...EVENTS, group: 'events.k8s.io' }, undefined, false],
    ['leases', LEASES, undefined, false],
    ['policies', PROPAGATION_POLICIES, undefined, false],
    ['bindings', RESOURCE_BINDINGS, undefined, false],
    ['works', WORKS, undefined, false],
    ['a group that is taken out', custom, 'example.io', false],
    ['a group whose name only begins alike', { ...custom, group: 'example.io.net' }, 'example.io', true],
    ['a version that is taken out', custom, 'example.io/v1', false],
    ['another version of it', custom, 'example.io/v2', true],
    ['kinds that are taken out', custom, 'example.io/v1/Widget,Gadget', false],
    ['another kind of it', custom, 'example.io/v1/Widget', true],
    ['the core group', PODS, 'v1', false],
    ['kinds of the core group', PODS, 'v1/Secret,Pod', false],
    ['other kinds of the core group', CONFIG_MAPS, 'v1/Secret,Pod', true],
    ['one of several rules', DEPLOYMENTS, 'example.io; apps/v1/Deployment', false],
    ['none of several rules', DEPLOYMENTS, 'example.io;batch/v1', true],
  ]
  for (const [name, resource, skippedApis, expected] of table)
    it(`${name}: ${expected ? 'yes' : 'no'}`, () =>
      assert.equal(createPropagatable({ neverTravel, skippedApis }).isPropagatable(resource), expected))
})

describe('objects that policies leave alone', () => {
  const object = (kind: string, metadata: KubeObject['metadata']): KubeObject => ({ apiVersion: 'v1', kind, metadata })
  const table: [string, KubeObject, readonly string[] | undefined, boolean][] = [
    ['an object of users', object('ConfigMap', { namespace: 'default', name: 'a' }), undefined, false],
    ['one of the cluster itself', object('ConfigMap', { namespace: 'kube-system', name: 'a' }), undefined, true],
    ['a Namespace with such a name', object('Namespace', { name: 'kube-system' }), undefined, false],
    ['one in the namespace of the fleet', object('Secret', { namespace: 'karmada-system', name: 'a' }), [], true],
    ['credentials of clusters', object('Secret', { namespace: 'karmada-cluster', name: 'a' }), [], true],
    ['what lies beside Works', object('Secret', { namespace: 'karmada-es-member1', name: 'a' }), [], true],
    ['a namespace that is only similar', object('Secret', { namespace: 'my-kube-system', name: 'a' }), undefined, false],
    ['a namespace somebody took out', object('Secret', { namespace: 'team-a', name: 'a' }), ['team-.*', 'x'], true],
    ['an alternative in a pattern', object('Secret', { namespace: 'other', name: 'a' }), ['x|team'], false],
    ['what the API server keeps', object('ConfigMap', { namespace: 'kube-system', name: 'extension-apiserver-authentication' }), [], true],
    ['the rest of kube-system, when it is allowed', object('ConfigMap', { namespace: 'kube-system', name: 'a' }), [], false],
    [
      'what belongs to another controller',
      object('Service', { namespace: 'default', name: 'a', labels: { 'resourcetemplate.karmada.io/claimed-by': 'mcs' } }),
      undefined,
      true,
    ],
  ]
  for (const [name, one, skippedNamespaces, expected] of table)
    it(`${name}: ${expected ? 'left alone' : 'taken'}`, () =>
      assert.equal(createPropagatable({ skippedNamespaces }).isSkipped(one), expected))
})
