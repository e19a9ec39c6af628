import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { KubeObject } from '../../../kube/meta.ts'
import { AdvancedStatefulSet, AlluxioRuntime, CacheRuntime } from '../index.ts'
import { admit, anObject } from './testing.ts'

const text = fc.oneof(
  fc.constantFrom('/a', '/a,/b', '..', ',', '', '1Gi', '1Gi,2Gi', '-1', '0-99', '50%'),
  fc.string({ maxLength: 6, unit: 'binary' }),
)
const amount = fc.oneof(fc.constantFrom('1Gi', '0', '-1', '9e99', '1n'), fc.integer())
const some: { requiredKeys: never[]; noNullPrototype: true } = { requiredKeys: [], noNullPrototype: true }

const oldLevel = fc.record(
  {
    mediumtype: fc.constantFrom('MEM', 'SSD', 'HDD'),
    volumeType: fc.constantFrom('hostPath', 'emptyDir'),
    path: text.map((path) => `${path}/`),
    quota: amount,
    quotaList: fc.constantFrom('1Gi,2Gi', '1Gi,0'),
    volumeSource: fc.record({ hostPath: fc.record({ path: text }) }, some),
  },
  { requiredKeys: ['mediumtype'], noNullPrototype: true },
)
const level = fc.record(
  {
    processMemory: fc.record({ quota: amount }),
    emptyDir: fc.record({ quota: amount, medium: text }),
    hostPath: fc.record({
      paths: fc.array(text, { minLength: 1, maxLength: 3 }),
      quotas: fc.array(amount, { minLength: 1, maxLength: 3 }),
    }),
  },
  some,
)
const volumes = fc.array(fc.record({ name: text, hostPath: fc.record({ path: text }) }), { maxLength: 2 })
const labels = fc.dictionary(text, text, { maxKeys: 2, noNullPrototype: true })

const OBJECTS: [string, fc.Arbitrary<KubeObject>][] = [
  [
    'an AlluxioRuntime',
    fc
      .record({ tieredstore: fc.record({ levels: fc.array(oldLevel, { maxLength: 3 }) }), volumes }, some)
      .map((spec) => anObject(AlluxioRuntime, { spec })),
  ],
  [
    'a CacheRuntime',
    fc
      .record({ levels: fc.array(level, { maxLength: 3 }), volumes })
      .map(({ levels, volumes: all }) =>
        anObject(CacheRuntime, { spec: { runtimeClassName: 'a', volumes: all, worker: { tieredStore: { levels } } } }),
      ),
  ],
  [
    'an AdvancedStatefulSet',
    fc
      .record({
        matchLabels: labels,
        own: labels,
        reserveOrdinals: fc.array(fc.oneof(fc.integer(), text), { maxLength: 3 }),
        maxUnavailable: text,
      })
      .map(({ matchLabels, own, reserveOrdinals, maxUnavailable }) =>
        anObject(AdvancedStatefulSet, {
          spec: {
            selector: { matchLabels },
            template: { metadata: { labels: own }, spec: { containers: [{ name: 'c' }] } },
            reserveOrdinals,
            updateStrategy: { rollingUpdate: { maxUnavailable } },
          },
        }),
      ),
  ],
]

describe('admission of anything', () => {
  for (const [what, objects] of OBJECTS)
    it(`takes ${what} or refuses it with sentences, and takes it as an update of itself`, async () => {
      await fc.assert(
        fc.asyncProperty(objects, async (object) => {
          const { schema, refused, object: stored } = await admit(object, { hostPathPrefixes: ['/a'] })
          for (const error of [...schema, ...refused]) assert.match(error, /^[^:]*: .+/s)
          const again = { ...stored, metadata: { ...stored.metadata, labels: { touched: 'yes' } } }
          assert.deepEqual((await admit(again, { old: stored, hostPathPrefixes: ['/a'] })).refused, [])
        }),
        { numRuns: 60 },
      )
    })
})
