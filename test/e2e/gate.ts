/**
 * Data and compute meet, for real: the example examples/gate/produce-consume by its one command, as root and as a plain user;
 * the same with Sluice killed while the data is made; and the chapter of the story. Run with: npm run test:e2e:gate
 */
import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { otherKubectls, recordedKubectl } from '../machine/assets.ts'
import { type Program, privateProgram } from '../machine/program.ts'
import { eventually, namespacesRefusal, Person, people } from './person.ts'

const FOLDER = path.resolve('examples/gate/produce-consume')
const PATIENCE_MS = 90_000
const kubectl = recordedKubectl() ?? otherKubectls()[0]
const skip = kubectl === undefined ? 'no kubectl of 1.28 or newer here (scripts/kube-assets/build makes one)' : false
const everybody = people().map((who) => ({ ...who, skip: skip || (namespacesRefusal(who.uid) ?? false) }))

let program: Program
before(async () => {
  program = await privateProgram()
})
after(() => program.remove())

/** A person with the example, kubectl, and a program that is called `sluice`. */
class Reader {
  readonly person: Person
  readonly dir: string

  constructor(name: string, uid: number | undefined) {
    this.person = new Person(name, program.file, uid)
    this.dir = this.person.file('data')
    this.person.bring('kubectl', kubectl?.path ?? '')
    mkdirSync(this.person.file('example'))
    for (const file of readdirSync(FOLDER)) copyFileSync(path.join(FOLDER, file), this.person.file('example', file))
    const command = this.person.commandOf().map((word) => `'${word}'`)
    writeFileSync(this.person.file('bin', 'sluice'), `#!/bin/sh\nexec ${command.join(' ')} "$@"\n`)
    for (const file of ['bin/sluice', 'example', 'example/run']) chmodSync(this.person.file(file), 0o755)
  }

  /** Runs a command of the example to its end, and returns what it printed. */
  async shell(script: string): Promise<string> {
    const env = `export SLUICE=${this.person.file('bin', 'sluice')} DATA_DIR=${this.dir} KUBECONFIG=${this.dir}/kubeconfig`
    const { exitCode, stdout, stderr } = await this.person.run('bash', '-c', `${env}; cd example && ${script}`)
    assert.equal(exitCode, 0, `${script}\n\n${stdout}\n${stderr}`)
    assert.doesNotMatch(stdout + stderr, /warning|\n {4}at /i)
    return stdout.trim()
  }

  /** Polls until the command prints this; otherwise reports what it printed last. */
  async sees(script: string, expected: string): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS
    for (;;) {
      const printed = await this.shell(script)
      if (printed === expected) return
      if (performance.now() > deadline) assert.equal(printed, expected, script)
      await sleep(200)
    }
  }
}

const SOURCE = `kubectl get datasources -o jsonpath='{range .items[*]}{.metadata.annotations.sluice\\.dev/version} {.spec.locality.clusterNames}{end}'`
const BUSY = { spec: { taints: [{ key: 'example.com/busy', effect: 'NoSchedule' }] } }
const FREE = { spec: { taints: null } }
const patch = (what: object): string => `kubectl patch cluster member1 --type merge -p '${JSON.stringify(what)}'`
const placeOf = (job: string): string => `kubectl get resourcebinding ${job}-job -o jsonpath='{.spec.clusters[*].name}'`
const heldReason = (job: string): string =>
  `kubectl get resourcebinding ${job}-job -o jsonpath='{.metadata.annotations.sluice\\.dev/held-reason}'`

for (const { name, uid, skip: reason } of everybody)
  describe(`the example, run by ${name}`, { skip: reason }, () => {
    let reader: Reader
    before(() => {
      reader = new Reader(name, uid)
    })
    after(() => reader.person.leave(reader.dir))

    it('is one command, shows what waits for what, and leaves nothing behind', async () => {
      const printed = await reader.shell('./run')
      for (const line of [
        /^sales +Pending +NoSuchSource/m,
        /^sales +Pending +NotProducedYet/m,
        /Job default\/daily makes files\/table\/sales\.daily, and is /,
        /^datasource\S+ +files +table +sales\.daily +member\d +1 /m,
        /^job\/consume has read the bytes that job\/daily has written, in member\d\.$/m,
        /^audit +Bound +\S+ +DataClusterUnavailable/m,
        /no cluster of DataSource \S+ is ready: member\d/,
        /^job\/audit has read the bytes that job\/daily has written, in member\d\.$/m,
      ])
        assert.match(printed, line)
      assert.equal(existsSync(reader.dir), false)
    })
  })

const { name: last, uid: lastUid, skip: noLast } = everybody.at(-1) ?? { name: 'nobody', uid: undefined, skip: true }
describe(`Sluice is killed while data is made, by ${last}`, { skip: noLast }, () => {
  let reader: Reader
  before(async () => {
    reader = new Reader(last, lastUid)
    await reader.shell('./run start')
  })
  after(() => reader.person.leave(reader.dir))

  it('a Job waits for another one, which runs in the cluster that is not the first choice', async () => {
    // It goes on when it is told to, so that it is killed neither too early nor too late.
    const daily = reader.person.file('example', 'daily.yaml')
    writeFileSync(daily, readFileSync(daily, 'utf8').replace('sleep 5', 'until [ -e /shelf/go ]; do sleep 0.1; done'))
    await reader.shell(patch(BUSY))
    await reader.shell('kubectl apply -f placement.yaml -f consume.yaml -f daily.yaml')
    await reader.sees(placeOf('daily'), 'member2')
    await reader.shell(patch(FREE))
    await reader.sees(`kubectl --context member2 get pods -l job-name=daily -o jsonpath='{.items[*].status.phase}'`, 'Running')
    assert.equal(await reader.shell(heldReason('consume')), 'NotProducedYet')
  })

  it('after kill -9, what was made counts once, and the Job follows it and reads the same bytes', async () => {
    const { pid } = JSON.parse(readFileSync(path.join(reader.dir, 'run.json'), 'utf8')) as { pid: number }
    process.kill(pid, 'SIGKILL')
    await eventually('the end of the process', () => !existsSync(`/proc/${pid}`), 10)
    await reader.shell('./run start && touch "$(echo "$DATA_DIR"/members/member2/volumes/*)/go"')
    await reader.shell('kubectl wait --for=condition=complete --timeout=90s job/consume')
    assert.equal(await reader.shell(placeOf('consume')), 'member2')
    assert.equal(await reader.shell(SOURCE), 'v1 ["member2"]')
    const [made, read] = await Promise.all(['daily', 'consume'].map((job) => reader.shell(`kubectl --context member2 logs job/${job}`)))
    assert.match(made ?? '', /^[0-9a-f]{64} /)
    assert.equal(read, made)
  })

  it('says nothing it should not', () => {
    assert.doesNotMatch(readFileSync(path.join(reader.dir, 'log'), 'utf8'), /warning|\n {4}at /i)
  })
})

const [{ name: first, uid: firstUid, skip: noFirst } = { name: 'nobody', uid: undefined, skip: true }] = everybody
describe(`the story, told to ${first}`, { skip: noFirst }, () => {
  let person: Person
  let dir: string
  before(() => {
    person = new Person(first, program.file, firstUid)
    dir = person.file('data')
  })
  after(() => person.leave(dir))

  for (const title of ['is told to its end, and ends with 0', 'can be told again'])
    it(title, async () => {
      const { exitCode, stdout, stderr } = await person.sluice('up', '--story', 'gate', '--exit', '--port', '0', '--data-dir', dir)
      assert.equal(exitCode, 0, stdout + stderr)
      for (const line of [
        /report waits: claim clicks: there is no DataSource/,
        /collect has succeeded: files\/log\/clicks is in member\d/,
        /report was sent to member\d, and has read the same bytes/,
        /count waits: claim clicks: no cluster of DataSource \S+ is ready: member\d/,
        /member\d is back: count ran there, and has read the same bytes/,
      ])
        assert.match(stdout, line)
      assert.doesNotMatch(stdout + stderr, /warning|\n {4}at /i)
    })
})
