/**
 * The fleet of `sluice up` as its user meets it, with both transports to its members, as root and as a plain user: workloads
 * are divided, a member is cut off and comes back, everything is found again after a restart; and the story of a first
 * start. Run with: npm run test:e2e:fleet
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { webDeployment, webPolicy } from '../../src/fleet/story/manifests.ts'
import type { Cluster, ResourceBinding } from '../../src/kinds/karmada/index.ts'
import type { Pod } from '../../src/kinds/kubernetes/types.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { type Program, privateProgram } from '../machine/program.ts'
import { eventually, Person, people } from './person.ts'

const MEMBERS = ['member1', 'member2', 'member3'] as const
const [FIRST, SECOND, LAST] = MEMBERS
const PATIENCE_MS = 90_000
const QUICK = '--cluster-status-period 1 --cluster-failure-threshold 2 --cluster-success-threshold 2 --eviction-rate 10'.split(' ')

let program: Program
before(async () => {
  program = await privateProgram()
})
after(() => program.remove())

class Fleet {
  readonly person: Person
  readonly dir: string
  readonly #options: string[]

  constructor(person: Person, transport: string) {
    this.person = person
    this.dir = person.file('data')
    this.#options = ['--member-transport', transport, ...QUICK]
  }

  up = (...more: string[]): Promise<string> => this.sluice('up', '--detach', ...more, ...this.#options)

  async sluice(...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.person.sluice(...args, '--data-dir', this.dir)
    assert.equal(exitCode, 0, stdout + stderr)
    return stdout
  }

  async create(where: string, object: KubeObject): Promise<void> {
    const { status, body } = await this.person.ask(this.dir, 'hub', { method: 'POST', path: where, body: JSON.stringify(object) })
    assert.equal(status, 201, body)
  }

  async get<T>(context: string, where: string): Promise<T> {
    const { status, body } = await this.person.ask(this.dir, context, { path: where })
    assert.equal(status, 200, body)
    return JSON.parse(body) as T
  }

  pods = async (member: string): Promise<Pod[]> =>
    (await this.get<{ items: Pod[] }>(member, '/api/v1/namespaces/default/pods?labelSelector=app%3Dweb')).items
  binding = (): Promise<ResourceBinding> =>
    this.get('hub', '/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/web-deployment')

  async readyIn(member: string): Promise<string[]> {
    const isReady = ({ status }: Pod): boolean =>
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
    return (await this.pods(member)).filter(isReady).map(({ metadata }) => metadata.uid ?? '')
  }

  async readiness(member: string): Promise<string> {
    const { status } = await this.get<Cluster>('hub', `/apis/cluster.karmada.io/v1alpha1/clusters/${member}`)
    return status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? ''
  }

  /** Polls until it is as expected; otherwise reports what was seen last. */
  async sees<T>(what: string, look: () => Promise<T>, expected: T): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS
    for (;;) {
      const seen = await look()
      if (JSON.stringify(seen) === JSON.stringify(expected)) return
      if (performance.now() > deadline) assert.deepEqual(seen, expected, what)
      await sleep(200)
    }
  }
}

const counts = (fleet: Fleet, members: readonly string[]) => async (): Promise<number[]> =>
  Promise.all(members.map(async (member) => (await fleet.readyIn(member)).length))
const division = (fleet: Fleet) => async (): Promise<string> =>
  ((await fleet.binding()).spec.clusters ?? [])
    .map(({ name, replicas }) => `${name} ${replicas}`)
    .sort()
    .join(', ')

function fleetStory(fleet: () => Fleet): void {
  const kept = new Map<string, readonly string[]>()

  it('divides a Deployment over its members, whose pods run', async () => {
    const { spec, ...deployment } = webDeployment()
    const replicas = 3
    await fleet().create('/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies', webPolicy(['east', 'west', 'north']))
    await fleet().create('/apis/apps/v1/namespaces/default/deployments', { ...deployment, spec: { ...(spec as object), replicas } })
    await fleet().sees('one replica each', counts(fleet(), MEMBERS), [1, 1, 1])
    for (const member of [FIRST, SECOND]) kept.set(member, await fleet().readyIn(member))
  })

  it('moves work away from a member that is cut off, and touches nothing else', async () => {
    assert.match(await fleet().sluice('cluster', 'stop', LAST), /is cut off/)
    await assert.rejects(fleet().pods(LAST), 'nobody reaches it')
    await fleet().sees('not ready', () => fleet().readiness(LAST), 'False')
    await fleet().sees('three replicas elsewhere', async () => (await counts(fleet(), [FIRST, SECOND])()).reduce((a, b) => a + b), 3)
    for (const [member, uids] of kept) {
      const now = await fleet().readyIn(member)
      assert.deepEqual(
        uids.filter((uid) => !now.includes(uid)),
        [],
        member,
      )
    }
  })

  it('takes it back, without what it should no longer have', async () => {
    assert.match(await fleet().sluice('cluster', 'start', LAST), /is back/)
    await fleet().sees('ready', () => fleet().readiness(LAST), 'True')
    await fleet().sees('its old copy ends', async () => (await fleet().pods(LAST)).length, 0)
    assert.doesNotMatch(await division(fleet())(), new RegExp(LAST), 'nothing moves back by itself')
  })

  it('finds everything as it was after a restart', async () => {
    const before = { division: await division(fleet())(), generation: (await fleet().binding()).metadata.generation }
    const uids = await Promise.all([FIRST, SECOND].map((member) => fleet().readyIn(member)))
    await fleet().sluice('down')
    await fleet().up()
    await fleet().sees('the same pods', () => Promise.all([FIRST, SECOND].map((member) => fleet().readyIn(member))), uids)
    assert.deepEqual({ division: await division(fleet())(), generation: (await fleet().binding()).metadata.generation }, before)
    for (const member of MEMBERS) await fleet().sees(`${member} is ready`, () => fleet().readiness(member), 'True')
  })

  it('says nothing it should not', () => {
    assert.doesNotMatch(readFileSync(path.join(fleet().dir, 'log'), 'utf8'), /warning|\n {4}at /i)
  })
}

for (const { name, uid } of people()) {
  for (const transport of ['in-process', 'http'])
    describe(`the fleet of ${name}, ${transport}`, () => {
      let fleet: Fleet
      before(async () => {
        const person = new Person(name, program.file, uid)
        fleet = new Fleet(person, transport)
        await fleet.up('--port', '0')
      })
      after(() => fleet.person.leave(fleet.dir))
      fleetStory(() => fleet)
    })

  describe(`the story, told to ${name}`, () => {
    let person: Person
    let dir: string
    before(() => {
      person = new Person(name, program.file, uid)
      dir = person.file('data')
    })
    after(() => person.leave(dir))

    it('is told to its end, and ends with 0', async () => {
      const { exitCode, stdout, stderr } = await person.sluice('up', '--story', 'fleet', '--exit', '--port', '0', '--data-dir', dir)
      assert.equal(exitCode, 0, stdout + stderr)
      for (const line of [
        /member1 2 · member2 2 · member3 2/,
        /6 of 6 run as programs of this machine/,
        /web-\S+ listens on 127\.\S+:8080/,
        /member3 is cut off/,
        /member3 is not ready/,
        /member1 3 · member2 3/,
        /the 4 that were there were not touched/,
        /member3 is reached again, and ready/,
        /nothing moves back by itself/,
      ])
        assert.match(stdout, line)
      assert.doesNotMatch(stdout + stderr, /warning|\n {4}at /i)
    })

    it('is not told again on a directory that is there', async () => {
      const up = person.foreground('up', '--data-dir', dir)
      await eventually('the start', () => up.said().includes('Ctrl-C stops it'))
      assert.doesNotMatch(up.said(), /One web, three regions/)
      assert.match((await person.sluice('down', '--data-dir', dir)).stdout, /[Ss]topped/)
      assert.equal(await up.ended, 0, up.said())
    })
  })
}
