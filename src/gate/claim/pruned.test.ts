/**
 * On a server that serves these kinds by a definition of somebody else: what its schema does not know is pruned. Each of the
 * two forms in use has one of the twin fields. Nothing is written again and again.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectGone, expectQuiet } from '../../faultsim/expect/index.ts'
import { aWorld } from '../../faultsim/world/index.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { DATA_DEPENDENCY_GROUP } from '../../kinds/volcano/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { defineModule, type Module } from '../../runtime/module/module.ts'
import { modulesWithData } from '../output/testing.ts'
import { aClaim, aSeedClaim, aSource, binding, claimAt, prepared, sourceAt, stateOf, writesTo } from './testing.ts'

const text = { type: 'string' }
const texts = { type: 'object', additionalProperties: text }
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const object = (properties: Record<string, unknown>) => ({ type: 'object', properties })
const list = (items: unknown) => ({ type: 'array', items })
const condition = object({
  type: text,
  status: text,
  reason: text,
  message: text,
  observedGeneration: { type: 'integer', format: 'int64' },
  lastTransitionTime: { type: 'string', format: 'date-time' },
})
const reference = object({ apiVersion: text, kind: text, namespace: text, name: text, uid: text })

interface Shape {
  boundField: string
  refsField: string
  locality: Record<string, unknown>
  claim: Record<string, unknown>
}

function definition(plural: string, kind: string, schema: { scope: string; spec: unknown; status: unknown }): KubeObject {
  const { scope, spec, status } = schema
  const openAPIV3Schema = object({ apiVersion: text, kind: text, metadata: { type: 'object' }, spec, status })
  const names = { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` }
  const version = { name: 'v1alpha1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${DATA_DEPENDENCY_GROUP}` },
    spec: { group: DATA_DEPENDENCY_GROUP, scope, names, versions: [version] },
  }
}

const definitionsOf = ({ boundField, refsField, locality, claim }: Shape): KubeObject[] => [
  definition('datasources', 'DataSource', {
    scope: 'Cluster',
    spec: object({ system: text, type: text, name: text, locality: object(locality), attributes: texts, reclaimPolicy: text }),
    status: object({ [refsField]: list(reference), boundClaims: { type: 'integer', format: 'int32' }, conditions: list(condition) }),
  }),
  definition('datasourceclaims', 'DataSourceClaim', {
    scope: 'Namespaced',
    spec: object({ system: text, dataSourceType: text, dataSourceName: text, ...claim }),
    status: object({ phase: { ...text, default: 'Pending' }, [boundField]: text, conditions: list(condition) }),
  }),
]

const BUILT: Shape = {
  boundField: 'boundDataSource',
  refsField: 'claimRefs',
  locality: { clusterNames: list(text) },
  claim: { attributes: texts, workload: object({ apiVersion: text, kind: text, name: text, namespace: text }) },
}
const PROPOSED: Shape = {
  boundField: 'boundTo',
  refsField: 'claimRef',
  locality: { clusterAffinity: open },
  claim: { attributesSelector: open, workloadSelector: open },
}

/** All modules but the one that serves the kinds; their group does not travel. */
const modules: readonly Module[] = [
  ...modulesWithData.filter(({ kinds }) => !(kinds?.hub ?? []).some(({ group }) => group === DATA_DEPENDENCY_GROUP)),
  defineModule({
    name: 'data-group',
    roles: ['hub'],
    upstreamLeases: [],
    neverTravel: [DATA_DEPENDENCY_GROUP],
    defaults: {},
    services: () => ({}),
    controllers: () => [],
  }),
]

async function prunedWorld(shape: Shape) {
  const first = await aWorld({ modules }).settle()
  for (const one of definitionsOf(shape)) await first.hub.create(one)
  await prepared(first.hub)
  await first.settle()
  const from = first.snapshot()
  await first.stop()
  return aWorld({ modules, from, controllers: binding() }).settle()
}

const SALES = 'hive/table/sales'

describe('a server that prunes one of the twin fields', () => {
  const forms: [string, Shape, KubeObject, KubeObject][] = [
    ["volcano-global's", BUILT, aSource('sales', SALES), aClaim('default/a', SALES)],
    [
      "the proposal's",
      PROPOSED,
      aSource('sales', SALES, { locality: { clusterAffinity: { clusterNames: ['west'] } } }),
      aSeedClaim('default/a', 'hive/table'),
    ],
  ]
  for (const [whose, shape, source, claim] of forms)
    it(`is told once: with ${whose} definitions`, async () => {
      const world = await prunedWorld(shape)
      const { hub } = world
      await hub.create(source)
      await world.settle()
      hub.takeWrites()
      await hub.create(claim)
      await world.settle()
      assert.deepEqual(writesTo(hub, 'datasourceclaims'), ['gate.claim PATCH status'])
      const { status } = await claimAt(hub, 'default/a')
      const fields = Object.keys(status ?? {}).sort()
      assert.deepEqual(fields, [shape.boundField, 'conditions', 'phase'].sort())
      assert.equal((status as Record<string, unknown>)[shape.boundField], 'sales')
      const refs = ((await sourceAt(hub, 'sales')).status as Record<string, unknown>)[shape.refsField] as { name: string }[]
      assert.deepEqual(
        refs.map(({ name }) => name),
        ['a'],
      )
      await expectQuiet(world)
      await hub.patch(DATA_SOURCE_CLAIMS, 'default/a', { status: { [shape.boundField]: 'wrong' } }, 'status')
      await hub.patch(DATA_SOURCES, 'sales', { status: { [shape.refsField]: [] } }, 'status')
      await world.settle()
      assert.equal(
        ((await claimAt(hub, 'default/a')).status as Record<string, unknown>)[shape.boundField],
        'sales',
        'a wrong value is corrected',
      )
      await hub.delete(DATA_SOURCES, 'sales')
      await world.settle()
      await expectGone(hub, DATA_SOURCES, 'sales')
      assert.equal(await stateOf(hub, 'default/a'), 'Pending NoSuchSource')
      await expectQuiet(world)
      await world.stop()
    })
})
