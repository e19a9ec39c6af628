/** Tables over the pure parts: what a command said, what a pod lacks, what a dataset is, and how a status changes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dataset, DatasetStatus } from '../../kinds/fluid/index.ts'
import { CACHE_RUNTIMES } from '../../kinds/fluid/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { Outcome } from '../../runtime/controller.ts'
import { NO_REFERENCES } from '../reference/referring.ts'
import { conditionsOf, ready, waiting } from './conditions.ts'
import { decide } from './decide.ts'
import { checkMounted } from './effects.ts'
import type { Observed, Service } from './observe.ts'
import { claimKeys, isComplete, runOf, troubleOf } from './pods.ts'
import { choose, type Runtime } from './runtimes.ts'
import { patchOf } from './status.ts'
import { aDataset, aPod, aRuntime, MOUNTS, prepared } from './testing.ts'
import { shown } from './text.ts'

describe('what mounting printed', () => {
  const output = (stdout: string) => ({ stdout, stderr: '', exitCode: 0, isTruncated: false })
  const table: [string, Parameters<typeof checkMounted>[0], RegExp | undefined][] = [
    ['all paths, in any order', output('{"mounted":["/b","/a"]}'), undefined],
    ['too few', output('{"mounted":["/b"]}'), /^mount point \/a is not yet mounted$/],
    ['too many', output('{"mounted":["/a","/c","/b"]}'), /^unexpected mounted paths remain: \/c$/],
    ['far too many', output(JSON.stringify({ mounted: ['/a', '/b', ...Array.from({ length: 90 }, (_, i) => `/x${i}`)] })), / and 85 more$/],
    ['no JSON', output('done'), /^it prints no JSON: done$/],
    ['another shape', output('{"mounted":[1]}'), /^it prints no \{"mounted"/],
    ['a list alone', output('["/a","/b"]'), /^it prints no \{"mounted"/],
    ['an endless text', { ...output('{"mounted":["/a","/b"]}'), isTruncated: true }, /^it prints more than/],
    ['a failure', { ...output('x'), exitCode: 2 }, /^exit code 2: x$/],
  ]
  for (const [name, printed, expected] of table)
    it(name, () => {
      const check = (): void => checkMounted(printed, ['/a', '/b'])
      if (expected === undefined) assert.doesNotThrow(check)
      else assert.throws(check, ({ message }: Error) => expected.test(message))
    })
})

describe('a pod', () => {
  const pod = (status: Pod['status'], metadata = {}): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'n', ...metadata },
    status,
  })
  it('names what keeps it from starting', () => {
    const waitingFor = (reason: string, message?: string) =>
      pod({ containerStatuses: [{ name: 'c', state: { waiting: { reason, message } } }] } as Pod['status'])
    assert.equal(troubleOf(waitingFor('ContainerCreating')), undefined)
    assert.equal(troubleOf(waitingFor('ImagePullBackOff', 'no such image'))?.message, 'ImagePullBackOff: no such image')
    assert.equal(troubleOf(pod(undefined)), undefined)
  })

  it('is done when it goes or has ended', () => {
    const states = [
      pod({ phase: 'Running' }),
      pod({ phase: 'Succeeded' }),
      pod({ phase: 'Failed' }),
      pod({ phase: 'Running' }, { deletionTimestamp: 'x' }),
    ]
    assert.deepEqual(states.map(isComplete), [false, true, true, true])
  })

  it('runs commands in containers that run', () => {
    const state = { running: { startedAt: 't' } }
    const running = pod({ phase: 'Running', containerStatuses: [{ name: 'c', state }] } as Pod['status'], { uid: 'u' })
    assert.deepEqual([runOf(running, 'c'), runOf(running, 'd'), runOf(undefined, 'c')], ['u t', undefined, undefined])
  })

  it('uses the claims of its own namespace', () => {
    const volumes = [
      { name: 'a', persistentVolumeClaim: { claimName: 'x' } },
      { name: 'b', emptyDir: {} },
    ]
    assert.deepEqual(claimKeys({ ...pod(undefined), spec: { containers: [], volumes } }), ['n/x'])
  })
})

describe('a status', () => {
  it('is patched to be exactly what it should be', () => {
    const before = { a: 1, gone: 'x', map: { kept: '1', dropped: '2', changed: '3' }, list: [1] }
    const after = { a: 1, gone: undefined, map: { kept: '1', changed: '4' }, list: [2] }
    assert.deepEqual(patchOf(before, after), { gone: null, map: { dropped: null, changed: '4' }, list: [2] })
    assert.equal(patchOf(before, before), undefined)
  })

  it('says what it said with the times of then', () => {
    const first = conditionsOf([], [waiting('x')], 0)
    assert.deepEqual(conditionsOf(first, [waiting('x')], 60_000), first)
    const [second] = conditionsOf(first, [waiting('y')], 60_000)
    assert.deepEqual([second?.lastUpdateTime, second?.lastTransitionTime], ['1970-01-01T00:01:00Z', '1970-01-01T00:00:00Z'])
    assert.deepEqual(
      conditionsOf(first, [ready('z')], 60_000).map(({ type }) => type),
      ['Ready'],
    )
  })

  it('shows texts of others on one line, bounded', () => {
    assert.equal(shown('a\n\u001b[31mb\u202e\ud800 c '), 'a [31mb c')
    assert.equal(shown('x'.repeat(1e6)).length, 512)
  })
})

describe('what a dataset is', () => {
  const runtime = (phase: string, object = aRuntime()): Runtime => {
    const component = { phase, readyReplicas: 1 }
    return {
      kind: 'CacheRuntime',
      type: 'cache',
      resource: CACHE_RUNTIMES,
      object: { ...object, status: { master: component, worker: component } },
    }
  }
  const pods = (['master', 'worker'] as const).map((type): Pod => ({ ...(aPod(type) as Pod), status: { phase: 'Running' } }))
  const mounted = (outcome: Outcome<true> | undefined) => ({ key: 'k', outcome })
  const service = (outcome: Outcome<true> | undefined, more: object = {}): Service => ({
    ...{ prepared: prepared(aDataset()), pods, simulated: undefined, mount: mounted(outcome), asking: undefined, ...more },
  })
  const bound = (phase: string, more: Partial<DatasetStatus> = {}): Dataset => ({
    ...aDataset(),
    status: {
      phase,
      mounts: MOUNTS,
      runtimes: [{ name: 'demo', namespace: 'default', category: 'Accelerate', type: 'cache' }],
      conditions: [],
      ...more,
    },
  })
  const seen = (dataset: Dataset, of: Runtime | undefined, how: Service | undefined): Observed => ({
    ...{ dataset, nowMs: 0, choice: choose(of === undefined ? [] : [of], 'cache'), service: how, isCertain: true },
    ...{ users: { pods: [], datasets: [] }, lastFailure: undefined, taken: undefined, references: NO_REFERENCES },
  })
  const [ok, no, run]: Outcome<true>[] = [{ state: 'done', value: true }, { state: 'failed', message: 'no' }, { state: 'running' }]
  const failure = { type: 'NotReady', status: 'True', message: 'the sources cannot be mounted: before' }
  const changed = (phase: string) => bound(phase, { mounts: [] })
  const native = (phase: string): Dataset => ({
    ...bound(phase),
    spec: { mounts: [...MOUNTS, { mountPoint: 'local:///files', name: 'files' }] },
  })
  const volumes = [{ name: 'native-mount-1', hostPath: { path: '/files', type: 'Directory' } }]
  const volumeMounts = [{ name: 'native-mount-1', mountPath: '/var/lib/sluice/sources/files', readOnly: true }]
  const podSpec = { containers: [{ name: 'main', image: 'cache', volumeMounts }], volumes }
  const sets = ['demo-master', 'demo-worker'].map((name) => ({
    ...{ apiVersion: 'workload.fluid.io/v1alpha1', kind: 'AdvancedStatefulSet', metadata: { name } },
    spec: { selector: {}, template: { spec: podSpec } },
  }))
  const withSets = { ...prepared(aDataset()), objects: { configMaps: [], services: [], sets, daemonSets: [] } }
  const renewed = pods.map(
    (pod): Pod => ({ ...pod, spec: { ...podSpec, volumes: [{ name: 'token', projected: {} }, ...volumes] } as Pod['spec'] }),
  )
  const unmounted = {
    name: 'main',
    state: { waiting: { reason: 'ContainerCreating', message: 'MountVolume.SetUp failed for volume "x"' } },
  }
  const stuck: Pod = { ...(aPod('worker') as Pod), status: { phase: 'Pending', containerStatuses: [unmounted] } as Pod['status'] }
  const table: [string, Observed, string][] = [
    ['no runtime', seen(aDataset(), undefined, undefined), 'NotBound no runtime is named demo'],
    ['a bad name', seen({ ...aDataset(), metadata: { name: '1a' } }, runtime('Ready'), service(ok)), 'NotBound 1a cannot be'],
    ['a runtime that is refused', seen(aDataset(), runtime('Ready'), { refused: 'no' }), 'NotBound no'],
    ['one that was served before', seen(bound('Bound'), runtime('Ready'), { refused: 'no' }), 'Failed no'],
    ['unready', seen(aDataset(), runtime('NotReady'), service(undefined)), 'NotBound waits for the masters'],
    ['not mounted yet', seen(aDataset(), runtime('Ready'), service(undefined)), 'NotBound the sources are being mounted'],
    ['not mountable', seen(aDataset(), runtime('Ready'), service(no)), 'NotBound the sources cannot be mounted: no'],
    [
      'mounting again',
      seen({ ...aDataset(), status: { conditions: [failure] } }, runtime('Ready'), service(run)),
      `NotBound ${failure.message}`,
    ],
    ['no container to mount', seen(aDataset(), runtime('Ready'), service(ok, { mount: undefined })), 'NotBound waits for container main'],
    ['mounted', seen(aDataset(), runtime('Ready'), service(ok)), 'Bound The ddc runtime is ready.'],
    ['simulated', seen(aDataset(), runtime('Ready'), service(undefined, { simulated: 'x' })), 'Bound The ddc runtime is ready.'],
    ['a restart of this process', seen(bound('Bound'), runtime('NotReady'), service(undefined)), 'Bound The ddc runtime is ready.'],
    ['pods gone', seen(bound('Bound'), runtime('NotReady'), service(ok, { pods: [] })), 'Failed the master "demo-master" is not healthy'],
    ['no status of the runtime', seen(bound('Bound'), runtime(''), service(ok)), 'Failed the master "demo-master" is missing'],
    ['back, not ready', seen(bound('Failed'), runtime('NotReady'), service(ok)), 'Failed waits for the masters'],
    ['back', seen(bound('Failed'), runtime('Ready'), service(ok)), 'Bound The ddc runtime is ready.'],
    ['cannot be mounted again', seen(bound('Bound'), runtime('Ready'), service(no)), 'Failed the sources cannot be mounted: no'],
    ['other mounts', seen(changed('Bound'), runtime('Ready'), service(undefined)), 'Updating The ddc runtime is updating.'],
    ['other mounts that fail', seen(changed('Updating'), runtime('Ready'), service(no)), 'Updating the sources cannot be mounted: no'],
    ['other mounts, mounted', seen(changed('Updating'), runtime('Ready'), service(ok)), 'Bound The ddc runtime has updated completely.'],
    ['no pods, for another directory', seen(native('Updating'), runtime('NotReady'), service(ok, { pods: [] })), 'Updating The ddc'],
    ['the first moment of that', seen(native('Bound'), runtime('NotReady'), service(ok, { pods: [] })), 'Updating The ddc'],
    ['no pods, changed back', seen(bound('Updating'), runtime('NotReady'), service(ok, { pods: [] })), 'Updating The ddc'],
    ['no pods, for another bucket', seen(changed('Updating'), runtime('NotReady'), service(ok, { pods: [] })), 'Failed the master'],
    ['no pods, failed before', seen(native('Failed'), runtime('NotReady'), service(ok, { pods: [] })), 'Failed the master'],
    ['a set that is gone', seen(native('Updating'), runtime(''), service(ok, { pods: [] })), 'Failed the master "demo-master" is missing'],
    [
      'a pod that cannot start',
      seen(native('Updating'), runtime('NotReady'), service(ok, { pods: [stuck] })),
      'Failed worker demo-worker-0 does not start: ',
    ],
    ['old pods', seen(native('Updating'), runtime('Ready'), service(ok, { prepared: withSets })), 'Updating The ddc runtime is updating.'],
    ['old pods of a bound dataset', seen(bound('Bound'), runtime('Ready'), service(ok, { prepared: withSets })), 'Bound The ddc'],
    [
      'new pods, mounted',
      seen(native('Updating'), runtime('Ready'), service(ok, { prepared: withSets, pods: renewed })),
      'Bound The ddc runtime has updated completely.',
    ],
    ['mounts changed back', seen(bound('Updating'), runtime('Ready'), service(run)), 'Updating The ddc runtime is updating.'],
  ]
  for (const [name, observed, expected] of table)
    it(name, () => {
      const standing = decide(observed)
      const text = `${standing.phase} ${'sentence' in standing ? standing.sentence : standing.message}`
      assert.ok(text.startsWith(expected), text)
    })

  it('waits for its clients where there is nothing else: one DaemonSet that its runtime knows of', () => {
    const onlyClient = {
      prepared: { ...prepared(aDataset()), components: { client: { name: 'demo-fuse', replicas: 0 } }, mountUfs: undefined },
    }
    const thin = (status: object): Runtime => ({ ...runtime(''), object: { ...aRuntime(), status } })
    const standing = (status: object) => decide(seen(aDataset(), thin(status), service(ok, onlyClient)))
    const waits = { phase: 'NotBound', sentence: 'waits for its clients: DaemonSet demo-fuse is being made' }
    assert.deepEqual([standing({}), standing({ fusePhase: '' })], [waits, waits])
    for (const status of [{ fusePhase: 'Ready' }, { client: { phase: 'NotReady' } }]) assert.equal(standing(status).phase, 'Bound')
  })
})
