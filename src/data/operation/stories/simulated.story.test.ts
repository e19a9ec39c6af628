import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { anOperation, KINDS } from '../testing.ts'
import { bindDataset, endPods, eventsOf, SIMULATED_PODS, statusOf, story } from './testing.ts'

const JOB_NAMES = {
  DataLoad: 'one-loader-job',
  DataMigrate: 'one-migrate-migrate',
  DataBackup: 'one-pod',
  DataProcess: 'one-processor-job',
} as const
const simulated = { podMetadata: SIMULATED_PODS }
const job = { podSpec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] }, backoffLimit: 0 }
const simulatedProcess = { processor: { podMetadata: SIMULATED_PODS, job } }
/** A backup has no field for it. */
const CAN_ASK = KINDS.filter((kind) => kind !== 'DataBackup')
const BECAUSE = /^nothing of its Job runs: sluice\.dev\/run: simulated asks for it$/
const after = (kind: string, name: string) => ({ runAfter: { kind, name } })

for (const kind of CAN_ASK)
  describe(`a ${kind} whose Job is simulated`, () => {
    story('says so while it seems to run, and in its end', async (world) => {
      const { member } = world
      await bindDataset(member)
      await member.create(anOperation(kind, { spec: kind === 'DataProcess' ? simulatedProcess : simulated }))
      await world.settle()
      const running = await statusOf(member, kind)
      assert.equal(running.phase, 'Executing')
      assert.match(running.infos?.simulated ?? '', BECAUSE)
      await endPods(world, JOB_NAMES[kind])
      const { phase, conditions, infos = {} } = await statusOf(member, kind)
      assert.deepEqual([phase, conditions[0]?.type, conditions[0]?.reason], ['Complete', 'Complete', 'Simulated'])
      assert.match(conditions[0]?.message ?? '', BECAUSE)
      assert.deepEqual(Object.keys(infos), ['simulated'], 'no bytes are claimed')
      assert.deepEqual(await eventsOf(member, 'one'), [
        `Normal DataOperationSucceed: ${kind} one succeeded, but only simulated: ${infos.simulated}`,
        `Warning DataOperationSimulated: ${kind} one is only simulated: ${infos.simulated}`,
      ])
    })
  })

describe('a flow with a simulated step', () => {
  story('says in each later step that what it goes on with was never made', async (world) => {
    const { member } = world
    await bindDataset(member)
    await member.create(anOperation('DataProcess', { metadata: { name: 'train' }, spec: simulatedProcess }))
    await member.create(anOperation('DataLoad', { metadata: { name: 'b' }, spec: after('DataProcess', 'train') }))
    await member.create(anOperation('DataBackup', { metadata: { name: 'c' }, spec: after('DataLoad', 'b') }))
    await world.settle()
    const says = /DataProcess "default\/train" is only simulated: nothing of its Job runs/
    assert.match((await statusOf(member, 'DataLoad', 'b')).infos?.waiting ?? '', says)
    await endPods(world, 'train-processor-job')
    await endPods(world, 'b-loader-job')
    await endPods(world, 'c-pod')
    for (const [kind, name] of [
      ['DataLoad', 'b'],
      ['DataBackup', 'c'],
    ] as const) {
      const { phase, conditions, infos = {} } = await statusOf(member, kind, name)
      assert.deepEqual([phase, conditions[0]?.reason], ['Complete', 'CompletionsReached'], 'it ran itself')
      assert.match(infos.simulatedBefore ?? '', says)
      assert.equal(infos.waiting, undefined)
      const events = await eventsOf(member, name)
      assert.equal(events.filter((event) => event.startsWith(`Warning DataOperationSimulated: ${kind} ${name} goes on, but `)).length, 1)
    }
  })

  story('says nothing about it once the step has really run', async (world) => {
    const { member } = world
    await bindDataset(member)
    await member.create(anOperation('DataProcess', { metadata: { name: 'train' } }))
    await member.create(anOperation('DataLoad', { metadata: { name: 'b' }, spec: after('DataProcess', 'train') }))
    await world.settle()
    await endPods(world, 'train-processor-job')
    await endPods(world, 'b-loader-job')
    assert.deepEqual((await statusOf(member, 'DataLoad', 'b')).infos ?? {}, {})
  })
})

describe('a simulated DataProcess that fails', () => {
  story('says both', async (world) => {
    const { member } = world
    await bindDataset(member)
    await member.create(anOperation('DataProcess', { spec: simulatedProcess }))
    await world.settle()
    await endPods(world, 'one-processor-job', 'Failed')
    const { phase, conditions } = await statusOf(member, 'DataProcess')
    assert.deepEqual([phase, conditions[0]?.reason], ['Failed', 'Simulated'])
    assert.match(conditions[0]?.message ?? '', /simulated asks for it \(BackoffLimitExceeded/)
  })
})

describe('SSH options of a DataMigrate', () => {
  story('are accepted, and a condition says that they are not needed', async (world) => {
    const { member } = world
    await bindDataset(member)
    await member.create(anOperation('DataMigrate', { spec: { parallelism: 4, parallelOptions: { sshSecretName: 'keys' } } }))
    await world.settle()
    const said = async () => (await statusOf(member, 'DataMigrate')).conditions
    const [first] = await said()
    assert.deepEqual([first?.type, first?.status, first?.reason], ['ParallelOptionsNotNeeded', 'True', 'CopiesInOnePod'])
    assert.match(first?.message ?? '', /^4 files at a time are copied by one pod without SSH: parallelOptions .* can be removed$/)
    await world.advance(60_000)
    await endPods(world, JOB_NAMES.DataMigrate)
    const [end, second] = await said()
    assert.equal(end?.type, 'Complete', 'its end comes first')
    assert.deepEqual(second, first)
  })
  story('are not spoken of where there are none', async (world) => {
    const { member } = world
    await bindDataset(member)
    await member.create(anOperation('DataMigrate', { spec: { parallelism: 4 } }))
    await world.settle()
    await endPods(world, JOB_NAMES.DataMigrate)
    assert.deepEqual(
      (await statusOf(member, 'DataMigrate')).conditions.map(({ type }) => type),
      ['Complete'],
    )
  })
})
