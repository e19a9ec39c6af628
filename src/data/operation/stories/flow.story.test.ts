import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectGone, expectThere } from '../../../faultsim/expect/index.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import type { Operation } from '../../../kinds/fluid/operation.ts'
import type { OperationKind } from '../../../kinds/fluid/operation-parts.ts'
import { DATA_LOADS, DATA_PROCESSES } from '../../../kinds/fluid/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Resource } from '../../../kube/resource.ts'
import { anOperation } from '../testing.ts'
import { bindDataset, endPods, eventsOf, jobIn, phaseOf, statusOf, story } from './testing.ts'

const load = (name: string, spec: object = {}): Operation => anOperation('DataLoad', { metadata: { name }, spec })
const after = (kind: OperationKind, name: string, more: object = {}): object => ({ runAfter: { kind, name, ...more } })
const process = (name: string, spec: object = {}): Operation => anOperation('DataProcess', { metadata: { name }, spec })
const waitingOf = async (cluster: WorldCluster, kind: OperationKind, name: string): Promise<string> =>
  (await statusOf(cluster, kind, name)).infos?.waiting ?? ''
const isHeld = async (cluster: WorldCluster, kind: OperationKind, name: string): Promise<boolean> => {
  const { waitFor, waitingFor } = await statusOf(cluster, kind, name)
  assert.deepEqual(waitFor, waitingFor, 'both names say the same')
  return waitingFor?.operationComplete === true
}

describe('a flow', () => {
  story('runs its steps one after another, in whatever order they came', async (world) => {
    const { member } = world
    await bindDataset(member)
    await member.create(anOperation('DataBackup', { metadata: { name: 'd' }, spec: after('DataProcess', 'c') }))
    await member.create(process('c', { runAfter: { operationKind: 'DataLoad', name: 'b' } }))
    await world.settle()
    assert.match(await waitingOf(member, 'DataProcess', 'c'), /Preceding operation DataLoad "default\/b" not found/)
    await member.create(load('b', after('DataMigrate', 'a')))
    await member.create(anOperation('DataMigrate', { metadata: { name: 'a' } }))
    await world.settle()
    const phases = async () => [
      await phaseOf(member, 'DataMigrate', 'a'),
      await phaseOf(member, 'DataLoad', 'b'),
      await phaseOf(member, 'DataProcess', 'c'),
      await phaseOf(member, 'DataBackup', 'd'),
    ]
    assert.deepEqual(await phases(), ['Executing', 'Pending', 'Pending', 'Pending'])
    assert.match(await waitingOf(member, 'DataProcess', 'c'), /^Waiting for operation DataLoad "default\/b" to complete$/)
    for (const [job, expected] of [
      ['a-migrate-migrate', ['Complete', 'Executing', 'Pending', 'Pending']],
      ['b-loader-job', ['Complete', 'Complete', 'Executing', 'Pending']],
      ['c-processor-job', ['Complete', 'Complete', 'Complete', 'Executing']],
      ['d-pod', ['Complete', 'Complete', 'Complete', 'Complete']],
    ] as const) {
      await endPods(world, job)
      assert.deepEqual(await phases(), expected)
    }
    assert.equal(await isHeld(member, 'DataBackup', 'd'), false)
    assert.equal(await waitingOf(member, 'DataBackup', 'd'), '')
  })

  story('stops behind a step that failed, says so, and goes on with the next one of its name', async (world) => {
    const { member } = world
    await bindDataset(member)
    const failing = process('a', { processor: { job: { podSpec: { containers: [{ name: 'c', image: 'i' }] }, backoffLimit: 0 } } })
    await member.create(failing)
    await member.create(load('b', after('DataProcess', 'a')))
    await world.settle()
    await endPods(world, 'a-processor-job', 'Failed')
    assert.equal(await phaseOf(member, 'DataProcess', 'a'), 'Failed')
    assert.equal(await phaseOf(member, 'DataLoad', 'b'), 'Pending')
    const says = /failed \(BackoffLimitExceeded\): delete it and apply it again, or remove runAfter/
    assert.match(await waitingOf(member, 'DataLoad', 'b'), says)
    assert.equal((await eventsOf(member, 'b')).filter((event) => says.test(event)).length, 1)
    await member.delete(DATA_PROCESSES as Resource, 'default/a')
    await world.settle()
    assert.match(await waitingOf(member, 'DataLoad', 'b'), /not found: create it, or remove runAfter/)
    await member.create(failing)
    await world.settle()
    await endPods(world, 'a-processor-job')
    assert.equal(await phaseOf(member, 'DataLoad', 'b'), 'Executing')
  })

  const EMPTIED: [string, (cluster: WorldCluster) => Promise<unknown>][] = [
    ['a merge patch', (cluster) => cluster.patch(DATA_LOADS as Resource, 'default/b', { spec: { runAfter: null } })],
    [
      'a server-side apply',
      (cluster) => cluster.client.apply(DATA_LOADS as Resource, plain(load('b')), { fieldManager: 'ann', force: true }),
    ],
  ]
  for (const [what, empty] of EMPTIED)
    story(`goes on when runAfter is emptied by ${what}`, async (world) => {
      const { member } = world
      await bindDataset(member)
      const first = load('b', { runAfter: { operationKind: 'DataMigrate', name: 'never' } })
      await member.client.apply(DATA_LOADS as Resource, plain(first), { fieldManager: 'ann', force: true })
      await world.settle()
      assert.equal(await isHeld(member, 'DataLoad', 'b'), true)
      await empty(member)
      await world.settle()
      assert.equal(await phaseOf(member, 'DataLoad', 'b'), 'Executing')
      const { spec } = (await expectThere(member, DATA_LOADS as Resource, 'default/b')) as Operation
      assert.equal(spec?.runAfter, undefined, 'neither spelling is left')
    })

  story('follows another step when runAfter is changed', async (world) => {
    const { member } = world
    await bindDataset(member)
    await member.create(load('a'))
    await member.create(load('b', after('DataMigrate', 'never')))
    await world.settle()
    await member.patch(DATA_LOADS as Resource, 'default/b', { spec: { runAfter: { kind: 'DataLoad', name: 'a' } } })
    await world.settle()
    assert.match(await waitingOf(member, 'DataLoad', 'b'), /^Waiting for operation DataLoad "default\/a"/)
    await endPods(world, 'a-loader-job')
    assert.equal(await phaseOf(member, 'DataLoad', 'b'), 'Executing')
  })

  story('is told to all members of a circle that two writers closed, and runs when one of them opens it', async (world) => {
    const { member } = world
    await bindDataset(member)
    // At the same moment admission sees none of the others.
    const steps = [load('a', after('DataLoad', 'b')), load('b', after('DataLoad', 'c')), load('c', after('DataLoad', 'a'))]
    await Promise.all(steps.map((step) => member.create(step)))
    await world.settle()
    for (const name of ['a', 'b', 'c'])
      assert.match(
        await waitingOf(member, 'DataLoad', name),
        /→ DataLoad default\/[abc] → DataLoad default\/[abc]: each would wait for the next/,
      )
    await member.patch(DATA_LOADS as Resource, 'default/c', { spec: { runAfter: null } })
    await world.settle()
    assert.equal(await phaseOf(member, 'DataLoad', 'c'), 'Executing')
    assert.match(await waitingOf(member, 'DataLoad', 'a'), /^Waiting for operation/)
  })

  story('brings a step to where the one before it ran', async (world) => {
    const { member } = world
    await bindDataset(member)
    await member.create(load('a'))
    await member.create(process('b', after('DataLoad', 'a', { affinityStrategy: { policy: 'Require' } })))
    await world.settle()
    await endPods(world, 'a-loader-job')
    const job = await jobIn(member, 'b-processor-job')
    assert.deepEqual(job?.spec?.template?.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms, [
      { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }] },
    ])
  })

  story('does not lose a step whose predecessor has no time to live', async (world) => {
    const { member } = world
    await bindDataset(member)
    await member.create(load('b', after('DataLoad', 'a')))
    await member.create(load('a', { ttlSecondsAfterFinished: 0 }))
    await world.settle()
    await endPods(world, 'a-loader-job')
    await expectGone(member, DATA_LOADS as Resource, 'default/a')
    assert.equal(await phaseOf(member, 'DataLoad', 'b'), 'Executing')
  })
})

describe('a step of another namespace', () => {
  const grant = {
    apiVersion: 'gateway.networking.k8s.io/v1beta1',
    kind: 'ReferenceGrant',
    metadata: { namespace: 'other', name: 'g' },
    spec: {
      from: [{ group: 'data.fluid.io', kind: 'DataLoad', namespace: 'default' }],
      to: [{ group: 'data.fluid.io', kind: 'DataLoad' }],
    },
  } as KubeObject
  story(
    'is waited for only with the consent of its owner, and nothing is said about it without',
    async (world) => {
      const { member } = world
      await bindDataset(member)
      await member.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
      await member.create({
        ...load('a'),
        metadata: { namespace: 'other', name: 'a' },
        spec: { dataset: { name: 'd' }, policy: 'Once' },
      } as KubeObject)
      await member.create(load('b', after('DataLoad', 'a', { namespace: 'other' })))
      await world.settle()
      const withheld = await waitingOf(member, 'DataLoad', 'b')
      assert.match(withheld, /does not exist, or may not be waited for from namespace default: .*ReferenceGrant/)
      await member.delete(DATA_LOADS as Resource, 'other/a')
      await world.settle()
      assert.equal(await waitingOf(member, 'DataLoad', 'b'), withheld)
      await member.create(grant)
      await world.settle()
      assert.match(await waitingOf(member, 'DataLoad', 'b'), /not found: create it/)
    },
    'grant',
  )
})

/** As a user applies it. */
const plain = ({ apiVersion, kind, metadata, spec }: Operation): KubeObject => ({ apiVersion, kind, metadata, spec }) as KubeObject
