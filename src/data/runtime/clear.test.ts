import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectGone, expectThere } from '../../faultsim/expect/index.ts'
import { story } from '../../faultsim/story.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'
import { clearingOf } from '../engines/cache/clearing.ts'
import { aClass } from '../engines/cache/testing.ts'
import { aDataset, aPrivilegedClass, aRuntime, createClass, eventsIn, member, runtimeIn, saidOf } from './testing.ts'

const NAMES = { master: 'm', worker: 'w', client: 'c' }
const classWith = (clear: string) => aClass({ metadata: { name: 'sample', annotations: { 'sluice.dev/clear': clear } } })

describe('the command that clears nodes', () => {
  const of = (clear: string, spec: unknown = {}) => clearingOf(classWith(clear), NAMES, spec)

  it('is what the class says, and none where that is no list of words', () => {
    assert.deepEqual(of('["a", "b"]')?.command, ['a', 'b'])
    for (const text of ['', '[]', '["a", 1]', '{}', 'a b', JSON.stringify(Array.from({ length: 65 }, () => 'x'))])
      assert.equal(of(text), undefined, text)
    assert.equal(clearingOf(aClass(), NAMES, {}), undefined)
    assert.equal(clearingOf(undefined, NAMES, {}), undefined)
  })

  const boundsOf = (spec: unknown) => {
    const { attempts, attemptMs } = of('["a"]', spec) ?? {}
    return [attempts, attemptMs]
  }
  const policy = (gracePeriodSeconds: number, maxRetryAttempts: number) => ({ cleanCachePolicy: { gracePeriodSeconds, maxRetryAttempts } })
  const table: [string, unknown, [number, number]][] = [
    ['by default', {}, [3, 60_000]],
    ['of an AlluxioRuntime', { management: policy(10, 1) }, [1, 10_000]],
    ['of a JindoRuntime', policy(20, 2), [2, 20_000]],
    ['none', policy(20, 0), [0, 20_000]],
    ['without end', policy(2 ** 31 - 1, 2 ** 31 - 1), [5, 120_000]],
    ['below nothing', policy(-1, -1), [0, 1000]],
  ]
  for (const [name, spec, expected] of table)
    it(`is tried so often, for so long: ${name}`, () => assert.deepEqual(boundsOf(spec), expected))
})

const TIERS = { tieredStore: { levels: [{ hostPath: { paths: ['/var/lib/sluice/cache/a'], quotas: ['1Gi'] } }] } }

interface Parts {
  worker?: object
  master?: object
  /** What its pods are made to be. */
  run?: 'process' | 'simulated'
}

/** A runtime that is served, whose class can clear. */
async function serve(cluster: WorldCluster, { worker = TIERS, master = {}, run = 'process' }: Parts = {}): Promise<void> {
  const annotations = { 'sluice.dev/clear': '["cache", "clear"]' }
  await createClass(cluster, { ...aPrivilegedClass(), metadata: { name: 'sample', annotations } })
  await cluster.create(aDataset({ tolerations: [{ operator: 'Exists' }] }))
  const podMetadata = { annotations: run === 'process' ? { 'sluice.dev/run': 'process' } : { 'sluice.dev/simulated-because': 'it is' } }
  await cluster.create(aRuntime({ podMetadata, master, worker: { replicas: 2, ...worker } }))
}

const cleared = (cluster: WorldCluster): string[] =>
  cluster.commands.calls.filter(({ command }) => command[1] === 'clear').map(({ pod, container }) => `${pod} ${container}`)

const LEFT = /^Warning CacheNotCleared: blocks may be left in \/var\/lib\/sluice\/cache\/a\/default\/demo of nodes \S+, \S+, because /

describe('a runtime that goes', () => {
  story(
    'is kept until its workers have removed what they stored on nodes',
    async (world) => {
      const { member: cluster } = world
      let isClear = false
      cluster.commands.script(() => (isClear ? {} : { exitCode: 1, stderr: 'not yet' }))
      await serve(cluster)
      await world.settle()
      assert.deepEqual(cleared(cluster), [])
      await cluster.delete(DATASETS, 'default/demo')
      await world.advance(1000)
      assert.equal(
        saidOf(await runtimeIn(cluster)),
        'False Clearing: it is being deleted, and waits until its workers have removed their blocks from their nodes',
      )
      await expectThere(cluster, PODS, 'default/demo-worker-1')
      isClear = true
      await world.settle()
      await expectGone(cluster, CACHE_RUNTIMES, 'default/demo')
      assert.deepEqual(cleared(cluster), ['demo-master-0 master', 'demo-master-0 master'])
      assert.deepEqual(await eventsIn(cluster), [])
    },
    member,
  )

  story(
    'goes all the same when that fails again and again, and says what stays where',
    async (world) => {
      const { member: cluster } = world
      cluster.commands.script(() => ({ exitCode: 1, stderr: 'the disk is gone' }))
      await serve(cluster)
      await world.settle()
      await cluster.delete(CACHE_RUNTIMES, 'default/demo')
      await world.settle()
      await expectGone(cluster, CACHE_RUNTIMES, 'default/demo')
      assert.equal(cleared(cluster).length, 3)
      const [event = '', ...others] = await eventsIn(cluster)
      assert.match(event, LEFT)
      assert.match(event, /because exit code 1: the disk is gone: remove them$/)
      assert.deepEqual(others, [])
    },
    member,
  )

  story(
    'does not wait for a master that does not run',
    async (world) => {
      const { member: cluster } = world
      cluster.commands.script(() => ({}))
      await serve(cluster, { master: { nodeSelector: { is: 'nowhere' } } })
      await world.settle()
      await cluster.delete(CACHE_RUNTIMES, 'default/demo')
      await world.settle()
      await expectGone(cluster, CACHE_RUNTIMES, 'default/demo')
      assert.deepEqual(cleared(cluster), [])
      const [event = '', ...others] = await eventsIn(cluster)
      assert.match(event, LEFT)
      assert.match(event, /because the master does not run: remove them$/)
      assert.deepEqual(others, [])
    },
    member,
  )

  const AT_ONCE: [string, Parts][] = [
    ['whose workers have stored nothing on nodes', { worker: {} }],
    ['whose pods are simulated', { run: 'simulated' }],
    ['that has no workers', { worker: { ...TIERS, replicas: 0 } }],
  ]
  for (const [name, parts] of AT_ONCE)
    story(
      `goes at once: one ${name}`,
      async (world) => {
        const { member: cluster } = world
        cluster.commands.script(() => ({}))
        await serve(cluster, parts)
        await world.settle()
        await cluster.delete(CACHE_RUNTIMES, 'default/demo')
        await world.settle()
        await expectGone(cluster, CACHE_RUNTIMES, 'default/demo')
        assert.deepEqual([cleared(cluster), await eventsIn(cluster)], [[], []])
      },
      member,
    )
})
