import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { GetText } from '../../../client/get-text.ts'
import type { World } from '../../../faultsim/world/index.ts'
import type { OperationKind } from '../../../kinds/fluid/operation-parts.ts'
import { DATA_LOADS } from '../../../kinds/fluid/resources.ts'
import type { Resource } from '../../../kube/resource.ts'
import { anOperation } from '../testing.ts'
import { bindDataset, endPods, eventsOf, runPods, SIMULATED_PODS, statusOf, story } from './testing.ts'

const JOB = 'one-loader-job'

/** What listens at the ports of pods. */
class Program {
  answer: string | undefined
  readonly asked: string[] = []
  readonly getText: GetText = async (url) => {
    this.asked.push(url)
    if (this.answer === undefined) throw new Error('connection refused')
    return this.answer
  }
  says(bytesDone: number): void {
    this.answer = JSON.stringify({ step: 'loading', bytesDone, bytesTotal: 100, filesDone: 1, filesTotal: 2, isTotalKnown: true })
  }
}

async function begin(world: World, kind: OperationKind = 'DataLoad', spec: object = {}): Promise<void> {
  await bindDataset(world.member, 'demo', 'Bound', 'builtin')
  await world.member.create(anOperation(kind, { spec }))
  await world.settle()
}

const infosIn = async ({ member }: World, kind: OperationKind = 'DataLoad') => (await statusOf(member, kind)).infos ?? {}
const versionIn = async ({ member }: World) => (await member.get(DATA_LOADS as Resource, 'default/one'))?.metadata.resourceVersion
const asWritten = (bytesDone: string) => ({ step: 'loading', bytesDone, bytesTotal: '100', filesDone: '1', filesTotal: '2' })

function asked(name: string, report: (world: World, program: Program) => Promise<void>): void {
  const program = new Program()
  story(name, (world) => report(world, program), 'open', program.getText)
}

describe('the progress of an operation', () => {
  asked('is asked every two seconds while it runs, written when it changed, and over with it', async (world, program) => {
    program.says(10)
    await begin(world)
    await world.advance(20_000)
    assert.deepEqual(program.asked, [], 'nobody listens yet')
    await runPods(world, JOB)
    assert.deepEqual(await infosIn(world), asWritten('10'))
    assert.deepEqual([...new Set(program.asked)], ['http://10.0.0.7:19453/progress'])
    program.says(50)
    await world.advance(2500)
    assert.deepEqual(await infosIn(world), asWritten('50'))
    const [before, version] = [program.asked.length, await versionIn(world)]
    await world.advance(20_000)
    const asked = program.asked.length - before
    assert.ok(asked >= 8 && asked <= 11, `asked ${asked} times in 20 s`)
    assert.equal(await versionIn(world), version, 'nothing is written that is written already')
    await endPods(world, JOB)
    const { phase, infos } = await statusOf(world.member, 'DataLoad')
    assert.deepEqual([phase, infos ?? {}], ['Complete', {}])
    const last = program.asked.length
    await world.advance(60_000)
    assert.equal(program.asked.length, last, 'nobody is asked any more')
  })

  asked('stays what it was after a restart, until somebody answers', async (world, program) => {
    program.says(10)
    await begin(world)
    await runPods(world, JOB)
    program.answer = undefined
    await world.restartControllers()
    await world.settle({ quietMs: 1000 })
    assert.deepEqual(await infosIn(world), asWritten('10'))
    await endPods(world, JOB)
  })

  asked('is not known where pods cannot be reached, which is said once', async (world, program) => {
    await begin(world)
    await runPods(world, JOB)
    assert.deepEqual(await infosIn(world), {}, 'a program needs a moment')
    await world.advance(10_000)
    const infos = await infosIn(world)
    assert.deepEqual(Object.keys(infos), ['progress'])
    assert.match(infos.progress ?? '', /^not known: the controllers get no answer from port 19453 of its pod; see its log/)
    const [before, version] = [program.asked.length, await versionIn(world)]
    await world.advance(600_000)
    assert.ok(program.asked.length - before <= 25, 'it is asked less and less')
    assert.equal(await versionIn(world), version)
    program.says(20)
    await world.advance(31_000)
    assert.deepEqual(await infosIn(world), asWritten('20'))
    assert.deepEqual(await eventsOf(world.member, 'one'), [])
    await endPods(world, JOB)
  })

  asked('is not believed, whatever answers on that port', async (world, program) => {
    program.answer = '<html>'
    await begin(world)
    await runPods(world, JOB)
    await world.advance(10_000)
    assert.deepEqual(Object.keys(await infosIn(world)), ['progress'])
  })

  asked('is asked of nobody who does not say that he serves it, and of no simulation', async (world, program) => {
    program.says(10)
    await begin(world, 'DataProcess')
    await runPods(world, 'one-processor-job')
    await world.member.create(anOperation('DataMigrate', { spec: { image: 'own', imageTag: '1' } }))
    await world.settle()
    await runPods(world, 'one-migrate-migrate')
    await world.member.create(anOperation('DataLoad', { spec: { podMetadata: SIMULATED_PODS } }))
    await world.settle()
    await runPods(world, JOB)
    await world.advance(10_000)
    assert.deepEqual(program.asked, [])
    assert.deepEqual([await infosIn(world, 'DataProcess'), await infosIn(world, 'DataMigrate')], [{}, {}])
    assert.deepEqual(Object.keys(await infosIn(world)), ['simulated'])
  })
})

describe('a process that cannot reach pods', () => {
  story('says so once, and asks nobody', async (world) => {
    await begin(world)
    await runPods(world, JOB)
    assert.deepEqual(Object.keys(await infosIn(world)), ['progress'])
    await endPods(world, JOB)
    assert.deepEqual(await infosIn(world), {})
  })
})
