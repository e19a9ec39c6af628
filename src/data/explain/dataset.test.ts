import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FORBIDDEN, NONE } from '../../client/read-as-caller.ts'
import { commandsFor } from './commands.ts'
import { explainDataset } from './dataset.ts'
import type { DatasetInput } from './input.ts'
import { aClaim, aDataset, anInput, aPod, aRuntime, BOUND, master, READY, served, textOf, unschedulable, worker } from './testing.ts'

const NOT_BOUND = aDataset({ phase: 'NotBound' })
const TOO_NEAR = "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules."

describe('why a dataset is served, or not', () => {
  it('shows one that is, from its runtime to its readers', () => {
    const reader = aPod('reader', READY, {}, ['demo'])
    const explained = explainDataset(anInput({ pods: { ...NONE, items: [reader, aPod('other', READY)] } }))
    assert.deepEqual(textOf(explained), [
      '✓ dataset: Bound since 2026-01-01T00:00:00Z',
      '  1.50GiB at its sources, 7 files, 300.00MiB cached',
      '  ███░░░░░░░░░░░░░░░░░ 19.5% cached',
      '✓ runtime: CacheRuntime demo is served',
      '✓ class: CacheRuntimeClass builtin',
      '✓ master: 1 of 1 ready',
      '✓ worker: 1 of 1 ready',
      '✓ sources: 1 source mounted',
      '  https://example.com/data at /data',
      '✓ volume: claim demo is Bound',
      '✓ readers: 1 pod uses its claim',
    ])
    assert.equal(explained.trouble, undefined)
    assert.equal(explained.says, 'it is Bound: pods of namespace shop mount it with the claim demo')
  })

  it('shows what waits, and what it waits for', () => {
    const explained = explainDataset(
      anInput({
        dataset: NOT_BOUND,
        components: { ...NONE, items: [master(), worker(0, unschedulable(TOO_NEAR))] },
        claim: undefined,
        pods: { ...NONE, items: [aPod('reader', unschedulable('persistentvolumeclaim "demo" not found'), {}, ['demo'])] },
      }),
    )
    assert.deepEqual(textOf(explained).slice(4), [
      `… worker: 0 of 1 ready; demo-worker-0 waits for a node: ${TOO_NEAR}`,
      '… sources: 1 source, not mounted yet',
      '  https://example.com/data at /data',
      '… volume: comes when it is bound',
      '… readers: 1 pod uses its claim; reader waits for a node: persistentvolumeclaim "demo" not found',
    ])
    assert.match(explained.trouble?.fix ?? '', /placement: Shared.*--process-nodes/)
  })

  it('shows what holds a scale-in, and what to do', () => {
    const { conditions } = served('True', 'Served') as { conditions: object[] }
    const held = {
      type: 'ScaleInHeld',
      status: 'True',
      reason: 'ReadersBesideWorkers',
      message: '1 worker that is to leave stays, because …',
    }
    const explained = explainDataset(anInput({ runtimes: [aRuntime({ conditions: [...conditions, held] })] }))
    assert.ok(textOf(explained).includes('… scale-in: 1 worker that is to leave stays, because …'))
    assert.match(explained.trouble?.fix ?? '', /kubectl scale cacheruntime\/demo -n shop$/)
    const waiting = { ...held, reason: 'AwaitsMaster', message: 'worker demo-worker-0 stays after all, …' }
    const forMaster = explainDataset(anInput({ runtimes: [aRuntime({ conditions: [...conditions, waiting] })] }))
    assert.match(forMaster.trouble?.fix ?? '', /^wait for the master of CacheRuntime demo: kubectl get pods -n shop$/)
  })

  const failing = {
    phase: 'Pending',
    containerStatuses: [{ name: 'c', state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } } }],
  }
  const mountFails = (why: string) => ({
    phase: 'Pending',
    containerStatuses: [
      {
        name: 'c',
        state: { waiting: { reason: 'ContainerCreating', message: `MountVolume.SetUp failed for volume "native-mount-0" : ${why}` } },
      },
    ],
  })
  const MEMBER = { commands: commandsFor('shop', 'member1') }
  const going = aDataset(BOUND)
  going.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
  const components = (...items: DatasetInput['components']['items'][number][]) => ({ components: { ...NONE, items } })
  const table: [string, Partial<DatasetInput>, RegExp, RegExp][] = [
    [
      'no runtime',
      { dataset: NOT_BOUND, runtimes: [] },
      /^runtime: there is no runtime of the name demo$/,
      /create a runtime .*runtimeClassName: builtin/,
    ],
    [
      'two runtimes',
      { dataset: NOT_BOUND, runtimes: [aRuntime(), aRuntime({}, 'AlluxioRuntime')] },
      /CacheRuntime and AlluxioRuntime/,
      /^delete one of them/,
    ],
    ['a runtime that nobody has looked at', { dataset: NOT_BOUND, runtimes: [aRuntime({})] }, /was not looked at yet/, /controllers run/],
    [
      'a runtime that is not served',
      { dataset: NOT_BOUND, runtimes: [aRuntime(served('False', 'NoImage', 'the image is missing: build it'))] },
      /is not served, NoImage: the image is missing: build it/,
      /^change it: kubectl edit cacheruntime\/demo -n shop$/,
    ],
    [
      'a runtime that is not served for a mount of its dataset',
      { dataset: NOT_BOUND, runtimes: [aRuntime(served('False', 'UnsupportedMount', 'it cannot read hdfs://'), 'AlluxioRuntime')] },
      /is not served, UnsupportedMount: it cannot read hdfs:/,
      /^change the mounts: kubectl edit dataset\/demo -n shop$/,
    ],
    [
      'a kind that nobody serves',
      { dataset: NOT_BOUND, runtimes: [aRuntime(served('False', 'NoEngine', 'no engine serves it'), 'EFCRuntime')], ...MEMBER },
      /^runtime: EFCRuntime demo is not served, NoEngine/,
      /^delete it \(kubectl delete efcruntime\/demo -n shop --context member1\), and create a CacheRuntime of the same name/,
    ],
    [
      'a class that is missing',
      { dataset: NOT_BOUND, runtimes: [aRuntime(served('False', 'NoSuchClass', 'there is none'))], runtimeClass: undefined, ...MEMBER },
      /^runtime: /,
      /^name a class that exists .*kubectl edit cacheruntime\/demo -n shop --context member1; see kubectl get cacheruntimeclasses --context member1\)/,
    ],
    [
      'a profile that is missing',
      { dataset: NOT_BOUND, runtimes: [aRuntime(served('False', 'NoSuchProfile', 'there is none'), 'ThinRuntime')] },
      /^runtime: /,
      /^name a profile that exists in profileName \(kubectl edit thinruntime\/demo -n shop; see kubectl get thinruntimeprofiles\)/,
    ],
    [
      'a directory of the dataset that is not allowed',
      { dataset: NOT_BOUND, runtimes: [aRuntime(served('False', 'DirectoryNotAllowed', 'Dataset spec.mounts[0]: no'))] },
      /^runtime: /,
      /^name another directory: kubectl edit dataset\/demo -n shop$/,
    ],
    [
      'a name that is too long',
      { dataset: NOT_BOUND, runtimes: [aRuntime(served('False', 'NameTooLong', 'too long'))] },
      /^runtime: /,
      /^make both again under a shorter name: kubectl delete cacheruntime\/demo -n shop; kubectl delete dataset\/demo -n shop;/,
    ],
    [
      'a runtime of a dataset that refers to another',
      {
        dataset: aDataset({ phase: 'NotBound' }, { mounts: [{ mountPoint: 'dataset://data/books', name: 'b' }] }),
        runtimes: [aRuntime(served('False', 'UnsupportedMount', 'it has a cache'))],
      },
      /^runtime: /,
      /^delete the runtime, which is not needed: kubectl delete cacheruntime\/demo -n shop$/,
    ],
    [
      'no class',
      { dataset: NOT_BOUND, runtimeClass: undefined },
      /^class: there is no CacheRuntimeClass builtin$/,
      /kubectl get cacheruntimeclasses/,
    ],
    [
      'no pods yet',
      { dataset: NOT_BOUND, runtimes: [aRuntime({ ...served('True', 'Served'), master: { desiredReplicas: 1 } })], ...components() },
      /^master: 0 of 1 ready$/,
      /^wait a moment/,
    ],
    [
      'a master that fails',
      { dataset: NOT_BOUND, ...components(master(failing)) },
      /^master: 0 of 1 ready; demo-master-0 waits on n1: CrashLoopBackOff: back-off$/,
      /kubectl logs pod\/demo-master-0 -n shop/,
    ],
    [
      'too little memory',
      components(master(), worker(), worker(1, unschedulable('0/2 nodes are available: 2 Insufficient memory.'))),
      /^worker: 1 of 2 ready; demo-worker-1/,
      /tiered store smaller/,
    ],
    [
      'other exclusive datasets',
      { dataset: aDataset({}, { placement: 'Shared' }), ...components(master(), worker(0, unschedulable(TOO_NEAR))) },
      /^worker:/,
      /^give the Datasets that have the nodes placement: Shared as well/,
    ],
    [
      'a source that cannot be mounted',
      {
        dataset: aDataset({
          phase: 'NotBound',
          conditions: [{ type: 'Ready', status: 'False', reason: 'MountFailed', message: 'no such host' }],
        }),
      },
      /^sources: MountFailed: no such host$/,
      /check the address of the source/,
    ],
    [
      'a source that cannot be listed any more',
      {
        dataset: aDataset({
          ...BOUND,
          conditions: [{ type: 'SourcesListed', status: 'False', reason: 'ListingFailed', message: 'S3 refuses access' }],
        }),
      },
      /^sources: 1 source mounted; S3 refuses access$/,
      /check the address of the source, its options and its Secrets/,
    ],
    [
      'a directory that is not there',
      { dataset: NOT_BOUND, ...components(master(mountFails('hostPath type check failed: /data/a is not a directory'))) },
      /^master: 0 of 1 ready; demo-master-0 waits on n1: ContainerCreating: MountVolume/,
      /^create the directory \/data\/a on the node, or correct the local:\/\/ mount point/,
    ],
    [
      'a Secret that is not there',
      { dataset: NOT_BOUND, ...components(master(mountFails('secret "keys" not found'))) },
      /^master:/,
      /^create the Secret keys, or correct the encryptOptions/,
    ],
    [
      'a claim of a user',
      { claim: aClaim('Bound', {}) },
      /^volume: a claim demo is there that was not made for it$/,
      /kubectl delete pvc\/demo -n shop/,
    ],
    ['a claim that waits', { claim: aClaim('Pending') }, /^volume: claim demo is Pending$/, /kubectl describe pvc/],
    [
      'a reader that waits',
      { pods: { ...NONE, items: [aPod('reader', failing, {}, ['demo'])] } },
      /^readers: 1 pod uses its claim; reader waits on n1/,
      /^see what it waits for: sluice why pod\/reader -n shop$/,
    ],
    [
      'a deletion that waits for readers',
      { dataset: going, pods: { ...NONE, items: [aPod('reader', READY, {}, ['demo'])] } },
      /^deletion:/,
      /kubectl delete pod\/reader -n shop/,
    ],
  ]
  for (const [name, input, says, fix] of table)
    it(`says what to do about ${name}`, () => {
      const { trouble } = explainDataset(anInput(input))
      assert.match(trouble?.says ?? 'nothing', says)
      assert.match(trouble?.fix ?? 'nothing', fix)
    })

  it('says who serves a runtime instead of its own engine, and that pods are simulated', () => {
    const runtime = aRuntime(served('True', 'ServedByBuiltin', 'instead of Alluxio'), 'AlluxioRuntime')
    const simulated = worker(0, READY, { 'sluice.dev/simulated-because': 'there are no process nodes' })
    const lines = textOf(explainDataset(anInput({ runtimes: [runtime], ...components(master(), simulated) })))
    assert.ok(lines.includes('✓ runtime: AlluxioRuntime demo is served by the builtin cache: instead of Alluxio'))
    assert.ok(lines.includes('  nothing is cached, because pods are simulated: there are no process nodes'))
    assert.ok(!lines.some((line) => line.includes('class')))
  })

  it('shows how far volumes are filled', () => {
    const filling = (says: string) => ({
      phase: 'Pending',
      containerStatuses: [{ name: 'c', state: { waiting: { reason: 'ContainerCreating', message: says } } }],
    })
    const one = aPod('r1', filling('waiting for volume "data": 1.2 of 2.0 GiB, 3 of 7 files'), {}, ['demo'])
    assert.ok(textOf(explainDataset(anInput({ pods: { ...NONE, items: [one] } }))).includes('  ████████████░░░░░░░░ 60% r1'))
    const two = aPod('r2', filling('waiting for volume "data": 0.0 of 2.0 GiB, 0 of 7 files'), {}, ['demo'])
    const lines = textOf(explainDataset(anInput({ pods: { ...NONE, items: [one, two] } })))
    assert.ok(lines.includes('  ░░░░░░░░░░░░░░░░░░░░ 0% r2') && lines.some((line) => line.startsWith('  r1 waits on n1: ')))
  })

  it('says that a dataset is simulated, whatever its pods say', () => {
    const conditions = [{ type: 'Simulated', status: 'True', reason: 'Simulated', message: 'no image runs here' }]
    const lines = textOf(explainDataset(anInput({ dataset: aDataset({ ...BOUND, conditions }) })))
    assert.ok(lines.includes('  it is simulated: no image runs here'), lines.join('\n'))
  })

  it('is short, however much there is, and names what may not be read', () => {
    const many = Array.from({ length: 400 }, (_, i) => aPod(`reader-${i}`, unschedulable('x'.repeat(5000)), {}, ['demo']))
    const mounts = Array.from({ length: 300 }, (_, i) => ({ mountPoint: `s3://bucket-${i}`, name: `m${i}` }))
    const lines = textOf(explainDataset(anInput({ dataset: aDataset(BOUND, { mounts }), pods: { ...NONE, items: many, isCut: true } })))
    assert.ok(lines.length < 30 && lines.join('').length < 8000)
    assert.ok(lines.includes('  and 395 more that wait') && lines.includes('  and 295 more'))
    const forbidden = { ...NONE, isForbidden: true }
    const hidden = anInput({
      runtimes: [],
      hidden: ['CacheRuntime'],
      claim: FORBIDDEN,
      pods: forbidden,
      components: forbidden,
      runtimeClass: FORBIDDEN,
    })
    assert.equal(textOf(explainDataset(hidden)).filter((line) => line.includes('may not be read by you')).length, 3)
  })
})
