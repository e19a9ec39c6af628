import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { applyPatch, type Operation } from 'rfc6902'
import { deepFreeze } from '../../base/json.ts'
import type { AdmissionContext } from '../../kinds/admission.ts'
import type { NodeSelectorTerm, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { StatusError } from '../../kube/status.ts'
import { requiredNodeMatcher } from '../../minicluster/scheduler/state/node-selector.ts'
import { asAdmission } from '../../runtime/seams/pod-admission.ts'
import { webhookPath } from '../../runtime/webhook/configuration.ts'
import { webhookHandle } from '../../runtime/webhook/handle.ts'
import { datasetLocality } from './admission.ts'
import { aBoundDataset, aClaim, aPod, cached, disk, readerOf, zone } from './testing.ts'

const NAMES = ['a', 'b', 'c'] as const
const WORLD: readonly KubeObject[] = [
  ...aBoundDataset('a', {
    spec: { client: { nodeSelector: { disk: 'ssd' } } },
    status: { cacheAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [zone('x'), zone('y')] } } },
  }),
  ...aBoundDataset('b', { spec: { client: { nodeSelector: { 'topology.kubernetes.io/zone': 'x' } } } }),
  ...aBoundDataset('c'),
  aClaim('plain', {}),
]

/** The pod after admission, and the warnings; the given pod stays as it is. */
function admitted(pod: Pod, objects = WORLD, admission = datasetLocality()): { pod: Pod; warnings: string[] } {
  const copy = structuredClone(pod)
  const warnings: string[] = []
  const context = { read: readerOf(objects), warn: (text: string) => void warnings.push(text) } as unknown as AdmissionContext
  admission.mutate?.(copy, 'default', context)
  return { pod: copy, warnings }
}
const nodeAffinity = ({ spec }: Pod) => spec?.affinity?.nodeAffinity

describe('the locality of pods', () => {
  it('is given by all plugins together, once', () => {
    const labels = { 'fluid.io/dataset.a.sched': 'required', 'fluid.io/dataset.typo.sched': 'required' }
    const { pod, warnings } = admitted(aPod(['c', 'a'], {}, { labels }))
    assert.deepEqual(nodeAffinity(pod), {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [disk('ssd'), cached('a')].flatMap(({ matchExpressions = [] }) => matchExpressions) }],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference: cached('c') }],
    })
    assert.deepEqual(
      pod.spec?.containers?.[0]?.volumeMounts?.map(({ mountPropagation }) => mountPropagation),
      ['HostToContainer', 'HostToContainer'],
    )
    assert.equal(pod.metadata.annotations?.['fluid.io/datasets-in-use'], 'a,c')
    assert.equal(warnings.length, 1)
  })

  it('counts as said by the author only what the author said', () => {
    const { pod } = admitted(aPod(['b']))
    assert.deepEqual(nodeAffinity(pod), {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [zone('x')] },
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference: cached('b') }],
    })
  })

  it('of a pod without datasets is elsewhere', () => {
    for (const claims of [[], ['plain']]) {
      const { pod } = admitted(aPod(claims))
      assert.deepEqual(nodeAffinity(pod)?.preferredDuringSchedulingIgnoredDuringExecution?.[0]?.preference, {
        matchExpressions: [{ key: 'fluid.io/dataset-num', operator: 'DoesNotExist' }],
      })
      assert.equal(pod.metadata.annotations, undefined)
    }
  })

  for (const [says, labels] of [
    ['does not ask for it', { 'fuse.serverful.fluid.io/inject': 'false' }],
    ['wants no injection', { 'fluid.io/enable-injection': 'false' }],
    ['has been through it', { 'done.sidecar.fluid.io/inject': 'true' }],
    ['asks for a sidecar', { 'serverless.fluid.io/inject': 'true' }],
    ['asks for a sidecar by the old label', { 'fuse.sidecar.fluid.io/inject': 'true' }],
  ] as const) {
    it(`is left to a pod that ${says}, even one that would be refused`, () => {
      for (const claims of [['a'], ['missing'], []]) {
        const pod = aPod(claims, {}, { labels })
        assert.deepEqual(admitted(pod).pod, pod)
      }
    })
  }

  it('is refused whole: nothing of the pod has changed', () => {
    const terms = Array.from({ length: 600 }, (_, i) => disk(String(i)))
    const choosy = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } }
    const zones = datasetLocality({ locality: { preferred: [], required: ['topology.kubernetes.io/zone'] } })
    for (const [pod, expected] of [
      [aPod(['a', 'missing']), /pods "p" is forbidden: failed to get the following PVCs \[missing\]/],
      [aPod(['missing'], {}, { name: undefined, generateName: 'web-' }), /pods "web-" is forbidden/],
      [aPod(['a'], { affinity: choosy }, { labels: { 'fluid.io/dataset.a.sched': 'required' } }), /more than 1000 alternatives/],
    ] as const) {
      const context = { read: readerOf(WORLD), warn: () => assert.fail('nothing to warn of') } as unknown as AdmissionContext
      assert.throws(
        () => zones.mutate?.(deepFreeze(pod), 'default', context),
        (error) => error instanceof StatusError && error.status.code === 403 && expected.test(error.message),
      )
    }
  })

  it('shares nothing with what it read: others may change the pod afterwards', () => {
    const { pod } = admitted(aPod(['a', 'b']))
    const frozen: string[] = []
    JSON.stringify(pod, (key, value: unknown) => {
      if (typeof value === 'object' && value !== null && Object.isFrozen(value)) frozen.push(key)
      return value
    })
    assert.deepEqual(frozen, [])
  })

  it('declares what it reads and who asks for it', () => {
    const { reads = [], label, failurePolicy } = datasetLocality()
    assert.deepEqual([label, failurePolicy], [{ key: 'fuse.serverful.fluid.io/inject', value: 'true' }, 'Fail'])
    assert.deepEqual(
      reads.map(({ plural }) => plural),
      [
        ...['persistentvolumeclaims', 'persistentvolumes', 'datasets', 'alluxioruntimes', 'juicefsruntimes', 'jindoruntimes'],
        ...['thinruntimes', 'cacheruntimes', 'efcruntimes', 'vineyardruntimes'],
      ],
    )
  })

  it('is served as a webhook: the same changes, as a patch', async () => {
    const admission = asAdmission(datasetLocality())
    const handle = webhookHandle({
      admissions: [admission],
      kinds: [],
      read: readerOf(WORLD),
      ready: async () => undefined,
      nowMs: () => 0,
      newUid: () => 'uid',
      hasRight: () => assert.fail('nobody is asked for rights'),
      onError: (error) => assert.fail(String(error)),
    })
    const review = (object: Pod) => ({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        ...{ uid: 'u', operation: 'CREATE', namespace: 'default', name: 'p', userInfo: { username: 'ann' }, object },
        kind: { group: '', version: 'v1', kind: 'Pod' },
        resource: { group: '', version: 'v1', resource: 'pods' },
      },
    })
    const answer = async (pod: Pod) => {
      const { body } = await handle(webhookPath(admission, 'mutate'), Buffer.from(JSON.stringify(review(pod))))
      return (body as { response: { allowed: boolean; patch?: string; status?: { message?: string } } }).response
    }
    const pod = aPod(['c', 'a'])
    const { allowed, patch = '' } = await answer(pod)
    const patched = structuredClone(pod)
    assert.deepEqual(applyPatch(patched, JSON.parse(Buffer.from(patch, 'base64').toString()) as Operation[]).filter(Boolean), [])
    assert.deepEqual([allowed, patched], [true, admitted(pod).pod])
    const refused = await answer(aPod(['missing']))
    assert.equal(refused.allowed, false)
    assert.match(refused.status?.message ?? '', /failed to get the following PVCs \[missing\]/)
  })

  it('is not built from a configuration that makes no sense', () => {
    assert.throws(() => datasetLocality({ locality: { preferred: [{ name: 'zone', weight: 500 }], required: [] } }), /give it 1 to 100/)
  })
})

describe('the locality of any pod', () => {
  const term: fc.Arbitrary<NodeSelectorTerm> = fc.constantFrom(disk('ssd'), disk('hdd'), zone('x'), cached('a'), {})
  const pods = fc
    .record({
      claims: fc.shuffledSubarray([...NAMES, 'plain']),
      required: fc.subarray([...NAMES]),
      terms: fc.option(fc.array(term, { maxLength: 3 }), { nil: undefined }),
      preferred: fc.array(fc.record({ weight: fc.integer({ min: 1, max: 100 }), preference: term }), { maxLength: 2 }),
    })
    .map(({ claims, required, terms, preferred }) =>
      aPod(
        claims,
        {
          affinity: {
            nodeAffinity: {
              ...(terms === undefined ? {} : { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } }),
              ...(preferred.length === 0 ? {} : { preferredDuringSchedulingIgnoredDuringExecution: preferred }),
            },
          },
        },
        { labels: Object.fromEntries(required.map((name) => [`fluid.io/dataset.${name}.sched`, 'required'])) },
      ),
    )
  const admissions = fc.constantFrom(
    datasetLocality(),
    datasetLocality({
      locality: { preferred: [{ name: 'fluid.io/fuse', weight: 3 }], required: ['fluid.io/node', 'topology.kubernetes.io/zone'] },
    }),
  )

  it('is the same after a second look', () => {
    fc.assert(
      fc.property(pods, admissions, (pod, admission) => {
        const once = admitted(pod, WORLD, admission).pod
        assert.deepEqual(admitted(once, WORLD, admission).pod, once)
      }),
      { numRuns: 200 },
    )
  })

  it('never lets it run where its author did not, nor away from what it requires', () => {
    const nodes = fc.record({
      name: fc.constantFrom('n1', 'n2'),
      labels: fc.record(
        {
          disk: fc.constantFrom('ssd', 'hdd'),
          'topology.kubernetes.io/zone': fc.constantFrom('x', 'y'),
          ...Object.fromEntries(NAMES.map((name) => [`fluid.io/s-default-${name}`, fc.constant('true')])),
        },
        { requiredKeys: [] },
      ) as fc.Arbitrary<Record<string, string>>,
    })
    fc.assert(
      fc.property(pods, fc.array(nodes, { minLength: 1, maxLength: 10 }), (pod, all) => {
        const [before, after] = [pod, admitted(pod).pod].map((one) => requiredNodeMatcher(one) ?? (() => true))
        const saysWhere = JSON.stringify(pod.spec?.affinity).includes('topology.kubernetes.io/zone')
        const required = NAMES.filter(
          (name) =>
            pod.metadata.labels?.[`fluid.io/dataset.${name}.sched`] !== undefined &&
            pod.spec?.volumes?.some((volume) => volume.name === `v-${name}`),
        )
        for (const node of all.filter((one) => after?.(one) === true)) {
          assert.equal(before?.(node), true)
          if (!saysWhere) for (const name of required) assert.equal(node.labels[`fluid.io/s-default-${name}`], 'true')
        }
      }),
      { numRuns: 200 },
    )
  })

  it('does not depend on the order of its volumes', () => {
    fc.assert(
      fc.property(pods, fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), (pod, order) => {
        const volumes = pod.spec?.volumes ?? []
        const shuffled = order.flatMap((i) => volumes[i] ?? [])
        const [one, other] = [pod, { ...pod, spec: { ...pod.spec, volumes: shuffled } }].map((each) => admitted(each).pod)
        assert.deepEqual({ ...other, spec: { ...other?.spec, volumes } }, one)
      }),
      { numRuns: 100 },
    )
  })
})
