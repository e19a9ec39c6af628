import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NodeAffinity, Pod } from '../../kinds/kubernetes/types.ts'
import { datasetUsageInjector } from './dataset-usage-injector.ts'
import { mountPropagationInjector } from './mount-propagation-injector.ts'
import { nodeAffinityWithCache } from './node-affinity-with-cache.ts'
import { type PodPlugin, withChanges } from './pod-change.ts'
import type { PodDataset } from './pod-datasets.ts'
import { preferNodesWithoutCache } from './prefer-nodes-without-cache.ts'
import { requireNodeWithFuse } from './require-node-with-fuse.ts'
import { aPod, aPodDataset, cached, disk, zone } from './testing.ts'
import { DEFAULT_LOCALITY, localityProblem } from './tiered-locality.ts'

/** The pod after this plugin alone. */
function after(plugin: PodPlugin, pod: Pod, datasets: readonly PodDataset[]): Pod {
  const { value, error } = withChanges(pod, [plugin.changeOf(pod, datasets)])
  return value ?? assert.fail(error)
}
const required = ({ spec }: Pod) => spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
const preferred = ({ spec }: Pod) => spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution
const requiring = (...nodeSelectorTerms: ReturnType<typeof zone>[]): NodeAffinity => ({
  requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
})

describe('RequireNodeWithFuse', () => {
  const ssd = aPodDataset('a', { fuseNodeSelector: { kind: 'fast', disk: 'ssd' } })
  const inA = aPodDataset('b', { fuseNodeSelector: { zone: 'a' } })
  const expression = (key: string, value: string) => ({ key, operator: 'In', values: [value] })

  for (const [says, datasets, expected] of [
    ['nothing when clients may run anywhere', [aPodDataset('a')], undefined],
    ['all labels, in the order of their keys', [ssd], [{ matchExpressions: [expression('disk', 'ssd'), expression('kind', 'fast')] }]],
    [
      'the nodes of all datasets, not of one of them',
      [ssd, inA],
      [{ matchExpressions: [expression('disk', 'ssd'), expression('kind', 'fast'), expression('zone', 'a')] }],
    ],
    ['what two datasets demand alike once', [inA, { ...inA, claim: 'c' }], [{ matchExpressions: [expression('zone', 'a')] }]],
  ] as const) {
    it(`requires ${says}`, () => assert.deepEqual(required(after(requireNodeWithFuse, aPod(['a', 'b']), datasets)), expected))
  }
})

describe('NodeAffinityWithCache', () => {
  const plugin = nodeAffinityWithCache(DEFAULT_LOCALITY)
  const region = { matchExpressions: [{ key: 'topology.kubernetes.io/region', operator: 'In', values: ['west'] }] }
  const inZone = {
    cacheTerms: [
      {
        matchExpressions: [
          ...(zone('x').matchExpressions ?? []),
          ...(region.matchExpressions ?? []),
          ...(disk('ssd').matchExpressions ?? []),
        ],
      },
    ],
  }
  const requiredLabel = (...claims: string[]) => ({
    labels: Object.fromEntries(claims.map((claim) => [`fluid.io/dataset.${claim}.sched`, 'required'])),
  })

  it('prefers the nodes of the cache, then its zone, then its region', () => {
    const pod = after(plugin, aPod(['a', 'b']), [aPodDataset('a', inZone), aPodDataset('b')])
    assert.deepEqual(preferred(pod), [
      { weight: 100, preference: cached('a') },
      { weight: 50, preference: zone('x') },
      { weight: 20, preference: region },
      { weight: 100, preference: cached('b') },
    ])
    assert.equal(required(pod), undefined)
  })

  it('appends to what the pod prefers itself, and says nothing twice', () => {
    const own = [
      { weight: 1, preference: disk('ssd') },
      { weight: 100, preference: cached('a') },
    ]
    const pod = aPod(['a'], { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: own } } })
    assert.deepEqual(preferred(after(plugin, pod, [aPodDataset('a'), aPodDataset('b')])), [
      ...own,
      { weight: 100, preference: cached('b') },
    ])
  })

  it('requires the cache of each dataset that a label names: all of them', () => {
    const pod = after(
      plugin,
      aPod(['a', 'b', 'c'], {}, requiredLabel('a', 'c')),
      ['a', 'b', 'c'].map((name) => aPodDataset(name)),
    )
    assert.deepEqual(required(pod), [
      { matchExpressions: [...(cached('a').matchExpressions ?? []), ...(cached('c').matchExpressions ?? [])] },
    ])
    assert.deepEqual(preferred(pod), [{ weight: 100, preference: cached('b') }])
  })

  it('joins each term of the pod with what it requires', () => {
    const pod = aPod(['a'], { affinity: { nodeAffinity: requiring(disk('ssd'), disk('hdd')) } }, requiredLabel('a'))
    assert.deepEqual(
      required(after(plugin, pod, [aPodDataset('a')])),
      [disk('ssd'), disk('hdd')].map(({ matchExpressions = [] }) => ({
        matchExpressions: [...matchExpressions, ...(cached('a').matchExpressions ?? [])],
      })),
    )
  })

  it('goes by the name of the claim, and only by the value required', () => {
    const wrapped = aPodDataset('a', { claim: 'wrap' })
    assert.deepEqual(required(after(plugin, aPod(['wrap'], {}, requiredLabel('wrap')), [wrapped])), [cached('a')])
    for (const labels of [requiredLabel('a').labels, { 'fluid.io/dataset.wrap.sched': 'preferred' }])
      assert.equal(required(after(plugin, aPod(['wrap'], {}, { labels }), [wrapped])), undefined)
  })

  for (const [says, spec] of [
    ['nodeSelector', { nodeSelector: { 'topology.kubernetes.io/zone': 'x' } }],
    ['required terms', { affinity: { nodeAffinity: requiring(zone('x')) } }],
    [
      'preferred terms',
      { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: zone('x') }] } } },
    ],
    ['a name of ours', { nodeSelector: { 'fluid.io/node': 'true' } }],
  ] as const) {
    it(`leaves a pod alone that names a place itself: ${says}`, () => {
      const pod = aPod(['a'], spec as Pod['spec'], requiredLabel('a'))
      assert.deepEqual(after(plugin, pod, [aPodDataset('a')]), pod)
    })
  }

  it('goes by its configuration, where any place of one dataset will do', () => {
    const configured = nodeAffinityWithCache({
      preferred: [{ name: 'fluid.io/fuse', weight: 7 }],
      required: ['fluid.io/fuse', 'topology.kubernetes.io/zone'],
    })
    const dataset = aPodDataset('a', { cacheTerms: [zone('x'), zone('y'), zone('x')] })
    const fuse = { matchExpressions: [{ key: 'fluid.io/f-default-a', operator: 'In', values: ['true'] }] }
    assert.deepEqual(required(after(configured, aPod(['a'], {}, requiredLabel('a')), [dataset])), [fuse, zone('x'), zone('y')])
    assert.deepEqual(preferred(after(configured, aPod(['a']), [dataset])), [{ weight: 7, preference: fuse }])
  })

  it('does not fill a pod with preferences', () => {
    const dataset = aPodDataset('a', { cacheTerms: Array.from({ length: 5000 }, (_, i) => zone(String(i))) })
    assert.equal(preferred(after(plugin, aPod(['a']), [dataset]))?.length, 101)
  })

  it('warns of a label without effect', () => {
    const zones = nodeAffinityWithCache({ preferred: [], required: ['topology.kubernetes.io/zone'] })
    const { warnings, required: demands } = zones.changeOf(aPod(['a'], {}, requiredLabel('a', 'typo')), [aPodDataset('a')])
    assert.deepEqual(demands, [[]])
    assert.deepEqual(warnings, [
      'label fluid.io/dataset.typo.sched has no effect: the pod mounts no dataset by a claim of that name',
      'label fluid.io/dataset.a.sched has no effect: the runtime of the dataset states none of topology.kubernetes.io/zone',
    ])
    assert.deepEqual(plugin.changeOf(aPod(['a'], {}, requiredLabel('a')), [aPodDataset('a')]).warnings, [])
  })

  it('has a configuration that is checked', () => {
    const one = (name: string, weight: number) => ({ preferred: [{ name, weight }], required: [] })
    for (const [locality, problem] of [
      [DEFAULT_LOCALITY, undefined],
      [{ preferred: [], required: [] }, undefined],
      [one('zone', 0), /the weight 0: give it 1 to 100/],
      [one('zone', 101), /the weight 101/],
      [one('zone', 1.5), /the weight 1.5/],
      [one('', 1), /an empty name/],
      [{ preferred: [], required: ['zone', 'zone'] }, /names zone twice/],
      [{ preferred: [], required: Array.from({ length: 21 }, (_, i) => `k${i}`) }, /more than 20/],
    ] as const) {
      const found = localityProblem(locality)
      if (problem === undefined) assert.equal(found, undefined)
      else assert.match(found ?? '', problem)
    }
  })
})

describe('PreferNodesWithoutCache', () => {
  const elsewhere = { weight: 100, preference: { matchExpressions: [{ key: 'fluid.io/dataset-num', operator: 'DoesNotExist' }] } }

  it('sends a pod without datasets elsewhere, and no other', () => {
    assert.deepEqual(preferred(after(preferNodesWithoutCache, aPod([]), [])), [elsewhere])
    assert.equal(preferred(after(preferNodesWithoutCache, aPod(['a']), [aPodDataset('a')])), undefined)
  })
})

describe('MountPropagationInjector', () => {
  it('lets containers see later mounts of datasets, and touches nothing else', () => {
    const mounts = [
      { name: 'v-a', mountPath: '/a' },
      { name: 'v-a', mountPath: '/own', mountPropagation: 'None' },
      { name: 'v-a', mountPath: '/sealed', readOnly: true, recursiveReadOnly: 'Enabled' },
      { name: 'v-other', mountPath: '/other' },
    ]
    const pod = aPod(['a', 'other'], {
      initContainers: [{ name: 'i', volumeMounts: mounts }],
      containers: [{ name: 'c', volumeMounts: mounts }, { name: 'd' }],
    })
    const { spec } = after(mountPropagationInjector, pod, [aPodDataset('a')])
    assert.deepEqual(spec?.initContainers, pod.spec?.initContainers)
    assert.deepEqual(spec?.containers, [
      { name: 'c', volumeMounts: [{ ...mounts[0], mountPropagation: 'HostToContainer' }, ...mounts.slice(1)] },
      { name: 'd' },
    ])
  })

  it('knows a dataset by its claim', () => {
    const { propagated } = mountPropagationInjector.changeOf(aPod(['wrap']), [aPodDataset('a', { claim: 'wrap' })])
    assert.deepEqual([...(propagated ?? [])], ['v-wrap'])
  })
})

describe('DatasetUsageInjector', () => {
  for (const [says, existing, names, expected] of [
    ['names the datasets, sorted', undefined, ['b', 'a'], 'a,b'],
    ['names each once', undefined, ['a', 'a'], 'a'],
    ['keeps what was named before', ' z, a ,,', ['b'], 'a,b,z'],
  ] as const) {
    it(says, () => {
      const annotations: Record<string, string> =
        existing === undefined ? { kept: 'x' } : { kept: 'x', 'fluid.io/datasets-in-use': existing }
      const pod = after(
        datasetUsageInjector,
        aPod([], {}, { annotations }),
        names.map((name) => aPodDataset(name)),
      )
      assert.deepEqual(pod.metadata.annotations, { kept: 'x', 'fluid.io/datasets-in-use': expected })
    })
  }
})
