import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createCaches } from '../client/cache/caches.ts'
import { ObjectCache } from '../client/cache/object-cache.ts'
import { createClient } from '../client/client.ts'
import { World } from '../faultsim/world/index.ts'
import { ReferenceGrant } from '../kinds/gateway/reference-grant.ts'
import { CONFIG_MAPS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'
import { defineController, NOTHING_TO_DO, type Reader, via } from './controller.ts'
import { defineModule, FlagError } from './module/module.ts'
import {
  CONSENT_DEFAULTS,
  type ConsentOptions,
  consentFlag,
  GRANT_INDEXES,
  isAbout,
  isPermitted,
  isPermittedAmong,
  mayBeWithheld,
  type ReferenceConsent,
  type ReferenceFrom,
  type ReferenceTo,
} from './reference-consent.ts'
import { runController } from './run-controller.ts'

type From = ReferenceGrant['spec']['from'][number]
type To = ReferenceGrant['spec']['to'][number]

/** `kind.group` or `kind.group/name`; a kind alone is of the core group. */
function target(text: string): To {
  const [of = '', name] = text.split('/')
  const [kind = '', ...group] = of.split('.')
  return { group: group.join('.'), kind, ...(name === undefined ? {} : { name }) }
}

/** `namespace/kind.group`. */
function source(text: string): From {
  const [namespace = '', of = ''] = text.split('/')
  const { group, kind } = target(of)
  return { group, kind, namespace }
}

const aGrant = (where: string, from: string[], to: string[]): ReferenceGrant => {
  const [namespace, name] = where.split('/')
  return {
    apiVersion: 'gateway.networking.k8s.io/v1beta1',
    kind: 'ReferenceGrant',
    metadata: { namespace, name },
    spec: { from: from.map(source), to: to.map(target) },
  }
}

const going = (grant: ReferenceGrant): ReferenceGrant => ({
  ...grant,
  metadata: { ...grant.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
})

/** A reader over grants, with the declared indexes in a cache as informers have it. */
function reading(grants: readonly KubeObject[]): Pick<Reader, 'byIndex'> {
  const cache = new ObjectCache()
  for (const { name, of } of GRANT_INDEXES) cache.addIndex(name, of)
  for (const grant of grants) cache.put(grant)
  return {
    byIndex: <T extends KubeObject>(resource: Resource<T>, index: string, value: string) => {
      assert.equal(resource.plural, 'referencegrants')
      return (cache.byIndex(index, value) ?? assert.fail(`no index ${index}`)) as T[]
    },
  }
}

const CLAIMS = 'a/Claim.x.io'
const FROM: ReferenceFrom = source(CLAIMS)
const into = (text: string): ReferenceTo => {
  const [namespace = '', of = '', name = ''] = text.split('/')
  return { ...target(of), namespace, name }
}

describe('consent to a reference', () => {
  // What there is, what is referred to from a, and whether that is permitted in mode open and in mode grant.
  const CASES: [string, KubeObject[], string, boolean, boolean][] = [
    ['nothing stated', [], 'b/Source.x.io/s', true, false],
    ['the same namespace', [], 'a/Source.x.io/s', true, true],
    ['the same namespace, whatever it grants to others', [aGrant('a/g', ['c/Claim.x.io'], ['Source.x.io'])], 'a/Source.x.io/s', true, true],
    ['a grant', [aGrant('b/g', [CLAIMS], ['Source.x.io'])], 'b/Source.x.io/s', true, true],
    ['a grant for this object', [aGrant('b/g', [CLAIMS], ['Source.x.io/s'])], 'b/Source.x.io/s', true, true],
    ['a grant for another object', [aGrant('b/g', [CLAIMS], ['Source.x.io/t'])], 'b/Source.x.io/s', false, false],
    ['a grant for several objects', [aGrant('b/g', [CLAIMS], ['Source.x.io/t', 'Source.x.io/s'])], 'b/Source.x.io/s', true, true],
    ['a grant for another namespace', [aGrant('b/g', ['c/Claim.x.io'], ['Source.x.io'])], 'b/Source.x.io/s', false, false],
    ['a grant for another kind that refers', [aGrant('b/g', ['a/Job.x.io'], ['Source.x.io'])], 'b/Source.x.io/s', false, false],
    ['a grant for another group that refers', [aGrant('b/g', ['a/Claim.y.io'], ['Source.x.io'])], 'b/Source.x.io/s', false, false],
    ['a grant for several that refer', [aGrant('b/g', ['c/Claim.x.io', CLAIMS], ['Source.x.io'])], 'b/Source.x.io/s', true, true],
    ['a grant about another kind', [aGrant('b/g', ['c/Claim.x.io'], ['Secret'])], 'b/Source.x.io/s', true, false],
    ['a grant about another group', [aGrant('b/g', ['c/Claim.x.io'], ['Source.y.io'])], 'b/Source.x.io/s', true, false],
    ['the core group', [aGrant('b/g', [CLAIMS], ['Secret'])], 'b/Secret/s', true, true],
    [
      'two grants, of which one is enough',
      [aGrant('b/g', ['c/Claim.x.io'], ['Source.x.io']), aGrant('b/h', [CLAIMS], ['Source.x.io'])],
      'b/Source.x.io/s',
      true,
      true,
    ],
    [
      'two grants, of which neither is',
      [aGrant('b/g', [CLAIMS], ['Secret']), aGrant('b/h', ['c/Claim.x.io'], ['Source.x.io'])],
      'b/Source.x.io/s',
      false,
      false,
    ],
    ['a grant in another namespace', [aGrant('c/g', [CLAIMS], ['Source.x.io'])], 'b/Source.x.io/s', true, false],
    ['a grant in the namespace that refers', [aGrant('a/g', [CLAIMS], ['Source.x.io'])], 'b/Source.x.io/s', true, false],
    ['a grant that is being deleted', [going(aGrant('b/g', [CLAIMS], ['Source.x.io']))], 'b/Source.x.io/s', true, false],
    ['a refusal that is being deleted', [going(aGrant('b/g', ['c/Claim.x.io'], ['Source.x.io']))], 'b/Source.x.io/s', true, false],
    [
      'a grant that is being deleted beside one for others',
      [going(aGrant('b/g', [CLAIMS], ['Source.x.io'])), aGrant('b/h', ['c/Claim.x.io'], ['Source.x.io'])],
      'b/Source.x.io/s',
      false,
      false,
    ],
    [
      'a grant without a spec',
      [{ apiVersion: 'gateway.networking.k8s.io/v1beta1', kind: 'ReferenceGrant', metadata: { namespace: 'b', name: 'g' } }],
      'b/Source.x.io/s',
      true,
      false,
    ],
  ]
  for (const [what, grants, to, open, grant] of CASES)
    it(`with ${what}: ${open ? 'given' : 'withheld'} if open, ${grant ? 'given' : 'withheld'} if grant`, () => {
      const read = reading(grants)
      assert.equal(isPermitted(FROM, into(to), { read, mode: 'open' }), open)
      assert.equal(isPermitted(FROM, into(to), { read, mode: 'grant' }), grant)
      for (const [mode, expected] of [
        ['open', open],
        ['grant', grant],
      ] as const)
        assert.equal(
          isPermittedAmong(grants as ReferenceGrant[], { from: FROM, to: into(to), mode }),
          expected,
          `${mode}, without an index`,
        )
    })
})

describe('consent that may be withheld', () => {
  const CASES: [string, KubeObject[], boolean][] = [
    ['nothing stated', [], false],
    ['a grant', [aGrant('b/g', [CLAIMS], ['Source.x.io'])], false],
    ['a grant for one object only', [aGrant('b/g', [CLAIMS], ['Source.x.io/s'])], true],
    ['a grant for others', [aGrant('b/g', ['c/Claim.x.io'], ['Source.x.io'])], true],
    [
      'a grant for others, and one for it',
      [aGrant('b/g', ['c/Claim.x.io'], ['Source.x.io']), aGrant('b/h', [CLAIMS], ['Source.x.io'])],
      false,
    ],
    ['a grant for it elsewhere', [aGrant('b/g', ['c/Claim.x.io'], ['Source.x.io']), aGrant('d/h', [CLAIMS], ['Source.x.io'])], true],
    ['a grant for others in its own namespace', [aGrant('a/g', ['c/Claim.x.io'], ['Source.x.io'])], false],
    ['a grant about another kind', [aGrant('b/g', ['c/Claim.x.io'], ['Secret'])], false],
    ['a grant for others that is being deleted', [going(aGrant('b/g', ['c/Claim.x.io'], ['Source.x.io']))], false],
  ]
  for (const [what, grants, expected] of CASES)
    it(`with ${what}: ${expected}`, () => {
      const read = reading(grants)
      assert.equal(mayBeWithheld(FROM, target('Source.x.io'), { read, mode: 'open' }), expected)
      assert.equal(mayBeWithheld(FROM, target('Source.x.io'), { read, mode: 'grant' }), true)
    })
})

describe('consent, whatever the grants', () => {
  const namespace = fc.constantFrom('a', 'b', 'c')
  const kind = fc.constantFrom({ group: '', kind: 'Secret' }, { group: 'x.io', kind: 'Source' }, { group: 'y.io', kind: 'Source' })
  const name = fc.constantFrom('s', 't')
  const from = fc.tuple(kind, namespace).map(([of, where]) => ({ ...of, namespace: where }))
  const to = fc.tuple(kind, fc.option(name, { nil: undefined })).map(([of, one]) => (one === undefined ? of : { ...of, name: one }))
  const grant = fc
    .record({
      namespace,
      from: fc.array(from, { minLength: 1, maxLength: 2 }),
      to: fc.array(to, { minLength: 1, maxLength: 2 }),
      isGoing: fc.boolean(),
    })
    .map(({ namespace: where, isGoing, ...spec }) => {
      const one: ReferenceGrant = { ...aGrant(`${where}/`, [], []), spec }
      return isGoing ? going(one) : one
    })
  const grants = fc
    .array(grant, { maxLength: 5 })
    .map((list) => list.map((one, i): ReferenceGrant => ({ ...one, metadata: { ...one.metadata, name: `g${i}` } })))
  const mode = fc.constantFrom<ReferenceConsent>('open', 'grant')
  const reference = fc.tuple(kind, namespace, name).map(([of, where, one]): ReferenceTo => ({ ...of, namespace: where, name: one }))

  it('never depends on the grants of a third namespace, nor on those about other kinds', () => {
    fc.assert(
      fc.property(grants, from, reference, mode, (all, who, what, how) => {
        const concerned = all.filter((one) => one.metadata.namespace === what.namespace && isAbout(one, what))
        const answer = isPermitted(who, what, { read: reading(all), mode: how })
        assert.equal(isPermitted(who, what, { read: reading(concerned), mode: how }), answer)
      }),
    )
  })

  it('is what the rule says, word by word', () => {
    fc.assert(
      fc.property(grants, from, reference, mode, (all, who, what, how) => {
        const stated = all
          .filter(({ metadata }) => metadata.namespace === what.namespace && metadata.deletionTimestamp === undefined)
          .filter(({ spec }) => spec.to.some((one) => one.group === what.group && one.kind === what.kind))
        const isNamed = stated.some(({ spec }) =>
          spec.from.some((one) =>
            spec.to.some(
              (other) =>
                [one.group, one.kind, one.namespace].join() === [who.group, who.kind, who.namespace].join() &&
                [other.group, other.kind].join() === [what.group, what.kind].join() &&
                [undefined, what.name].includes(other.name),
            ),
          ),
        )
        const expected = who.namespace === what.namespace || (stated.length === 0 ? how === 'open' : isNamed)
        assert.equal(isPermitted(who, what, { read: reading(all), mode: how }), expected)
      }),
      { numRuns: 500 },
    )
  })

  it('may be withheld exactly if some object, existing or not, would be refused', () => {
    fc.assert(
      fc.property(grants, from, kind, mode, (all, who, of, how) => {
        const consent = { read: reading(all), mode: how }
        const refused = ['a', 'b', 'c', 'nobody'].some((where) =>
          ['s', 't', 'unheard-of'].some((one) => !isPermitted(who, { ...of, namespace: where, name: one }, consent)),
        )
        assert.equal(mayBeWithheld(who, of, consent), refused)
      }),
      { numRuns: 500 },
    )
  })
})

/** A world in which one controller notes, for the ConfigMap `default/who`, whether it may refer to the Secret `other/what`. */
async function aWorldThatAsks(mode: ReferenceConsent): Promise<{ world: World; last: () => boolean | undefined }> {
  let last: boolean | undefined
  const secret = { group: '', kind: 'Secret' }
  const asking = defineController({
    name: 'asking',
    for: CONFIG_MAPS,
    watches: [via(ReferenceGrant.resource, (grant) => (isAbout(grant, secret) ? [{ namespace: 'default', name: 'who' }] : []))],
    indexes: GRANT_INDEXES,
    isRelevant: ({ metadata }) => metadata.name === 'who',
    writes: [],
    observe(_key, _primary, read) {
      const from = { group: '', kind: 'ConfigMap', namespace: 'default' }
      last = isPermitted(from, { ...secret, namespace: 'other', name: 'what' }, { read, mode })
    },
    plan: () => NOTHING_TO_DO,
  })
  const world = new World({
    controllers({ clock, random, transportFor }) {
      const client = createClient({ transport: transportFor('asking'), clock, random, userAgent: 'test' })
      const caches = createCaches({ client, clock, random })
      const running = runController(asking, { client, caches, clock, random, onError: (error) => assert.fail(String(error)) })
      return {
        busy: () => [...caches.behind(), ...running.busy()],
        resync: () => running.resync(),
        async stop() {
          await running.stop()
          caches.stop()
        },
      }
    },
  })
  await world.start()
  await world.hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
  await world.hub.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'who' } })
  await world.settle()
  return { world, last: () => last }
}

describe('consent on a cluster', () => {
  for (const mode of ['open', 'grant'] as const)
    it(`follows the grants as they come, change and go (${mode})`, async () => {
      const { world, last } = await aWorldThatAsks(mode)
      const { hub } = world
      const unstated = mode === 'open'
      const change = (spec: Partial<ReferenceGrant['spec']>) => hub.patch(ReferenceGrant.resource, 'other/g', { spec })
      assert.equal(last(), unstated)
      await hub.create(aGrant('other/g', ['elsewhere/ConfigMap'], ['Secret']))
      await world.settle()
      assert.equal(last(), false, 'the owner has stated a grant, for others')
      await change({ from: [source('default/ConfigMap')] })
      await world.settle()
      assert.equal(last(), true)
      await change({ to: [target('Secret/another')] })
      await world.settle()
      assert.equal(last(), false)
      await change({ to: [target('Service')] })
      await world.settle()
      assert.equal(last(), unstated, 'the grant is about another kind now')
      await change({ to: [target('Secret')] })
      await hub.patch(ReferenceGrant.resource, 'other/g', { metadata: { finalizers: ['example.com/wait'] } })
      await world.settle()
      assert.equal(last(), true)
      await hub.delete(ReferenceGrant.resource, 'other/g')
      await world.settle()
      assert.equal(last(), unstated, 'it waits for its finalizer, but is withdrawn')
      await world.stop()
    })
})

describe('--reference-consent', () => {
  interface Options extends ConsentOptions {
    other: number
  }
  const FILES = { resolve: (path: string) => path, read: async () => undefined, exists: async () => false }
  const asking = defineModule<Options, object>({
    name: 'asking',
    roles: ['hub'],
    upstreamLeases: [],
    defaults: { other: 1 },
    commandDefaults: CONSENT_DEFAULTS,
    flags: [consentFlag()],
    services: () => ({}),
    controllers: () => [],
  })
  const given = async (command: 'up' | 'controllers', ...texts: string[]) =>
    ((await asking.withFlags(command, { '--reference-consent': texts }, FILES)) as typeof asking).options

  it('is open on up and grant on controllers, unless it is given', async () => {
    assert.deepEqual(await given('up'), { other: 1, referenceConsent: 'open' })
    assert.deepEqual(await given('controllers'), { other: 1, referenceConsent: 'grant' })
    assert.deepEqual(await given('up', 'grant'), { other: 1, referenceConsent: 'grant' })
    assert.deepEqual(await given('controllers', 'open'), { other: 1, referenceConsent: 'open' })
  })

  it('refuses anything else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.constantFrom('Open', 'closed', '', ' grant')), async (text) => {
        fc.pre(text !== 'open' && text !== 'grant')
        await assert.rejects(given('up', text), (error) => {
          assert.ok(error instanceof FlagError)
          assert.equal(error.message, `--reference-consent is open or grant, not ${JSON.stringify(text)}`)
          return true
        })
      }),
    )
  })
})
