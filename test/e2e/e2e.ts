/**
 * The program as a new user meets it, as root and as a plain user: started, used, refused, stopped, killed, backed up and
 * restored. Every refusal must say what to do next, and never show a stack. Run with: npm run test:e2e
 */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { recordedKubectl } from '../machine/assets.ts'
import { type Program, privateProgram } from '../machine/program.ts'
import type { CommandResult } from '../machine/run-command.ts'
import { eventually, Person, people } from './person.ts'
import { podsOf } from './pods/pods.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

/** The error is reported in words that match, without a stack. */
function refused(result: CommandResult, ...words: RegExp[]): void {
  assert.equal(result.exitCode, 1, result.stdout + result.stderr)
  for (const expected of words) assert.match(result.stderr, expected)
  assert.doesNotMatch(result.stderr, /\n {4}at /)
}

const succeeded = (result: CommandResult): void => assert.equal(result.exitCode, 0, result.stdout + result.stderr)

const runOf = (dir: string): { pid: number } => JSON.parse(readFileSync(path.join(dir, 'run.json'), 'utf8')) as { pid: number }
const portsOf = (dir: string): unknown => (JSON.parse(readFileSync(path.join(dir, 'sluice.json'), 'utf8')) as { ports: unknown }).ports

let program: Program
before(async () => {
  program = await privateProgram()
})
after(() => program.remove())

for (const { name, uid } of people())
  describe(`as ${name}`, () => {
    let person: Person
    let dir: string
    let other: string
    let revision = 0
    before(() => {
      person = new Person(name, program.file, uid)
      dir = person.file('data')
      other = person.file('other')
    })
    after(() => person.leave(dir, other, person.file('restored')))

    it('up --detach returns when everything answers', async () => {
      const up = await person.sluice('up', '--detach', '--members', '2', '--port', '0', '--data-dir', dir)
      succeeded(up)
      assert.match(up.stdout, /runs in the background \(process \d+/)
      assert.match(up.stdout, /export KUBECONFIG=/)
      assert.match(up.stdout, /Stop it with: sluice down --data-dir/)
      assert.deepEqual(person.contexts(dir), ['hub', 'member1', 'member2'])
      assert.equal(statSync(path.join(dir, 'kubeconfig')).mode & 0o777, 0o600)
      assert.equal(statSync(dir).mode & 0o077, 0, 'nobody else looks in')
    })

    it('says nothing it should not: no warnings, no stacks', () => {
      assert.doesNotMatch(readFileSync(path.join(dir, 'log'), 'utf8'), /warning|deprecat|\n {4}at /i)
    })

    it('answers on every context', async () => {
      for (const context of person.contexts(dir)) {
        const answer = await person.ask(dir, context, { path: '/api/v1/namespaces' })
        assert.equal(answer.status, 200, answer.body)
        assert.match(answer.body, /"name":"default"/)
      }
    })

    it('answers kubectl on every context, and refuses a broken manifest in words', async (t) => {
      const kubectl = recordedKubectl()
      if (kubectl === undefined) return t.skip('no kubectl here (scripts/kube-assets/build makes one)')
      person.bring('kubectl', kubectl.path)
      const command = 'kubectl'
      const kubeconfig = ['--kubeconfig', path.join(dir, 'kubeconfig')]
      for (const context of person.contexts(dir)) {
        const got = await person.run(command, ...kubeconfig, '--context', context, 'get', 'ns')
        succeeded(got)
        assert.match(got.stdout, /^default +Active/m)
      }
      const manifest = person.file('broken.yaml')
      writeFileSync(manifest, 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, imagee: i}]}\n')
      chmodSync(manifest, 0o644)
      const broken = await person.run(command, ...kubeconfig, 'apply', '-f', manifest)
      assert.equal(broken.exitCode, 1)
      assert.match(broken.stderr, /unknown field "spec\.containers\[0\]\.imagee"/)
    })

    it('refuses a broken body with a Status that says where', async () => {
      const answer = await person.ask(dir, 'hub', { method: 'POST', path: CONFIG_MAPS, body: '{"metadata":{"name":"a"},"data":{"k":7}}' })
      assert.equal(answer.status, 400)
      assert.match(answer.body, /cannot unmarshal number into Go struct field ConfigMap\.data of type string/)
    })

    it('refuses a second up on the same directory, and another number of members', async () => {
      refused(await person.sluice('up', '--data-dir', dir), /already running/, /export KUBECONFIG=/, /sluice down --data-dir/)
      refused(await person.sluice('up', '--members', '5', '--data-dir', dir), /holds 2 members/, /sluice up --members 5 --data-dir OTHER/)
    })

    it('names the port that is in use, and the way out', async () => {
      const { hub } = portsOf(dir) as { hub: number }
      const busy = await person.sluice('up', '--members', '0', '--port', String(hub), '--data-dir', other)
      refused(busy, new RegExp(`127\\.0\\.0\\.1:${hub}`), /--port 0/)
      assert.equal(existsSync(path.join(other, 'run.json')), false)
    })

    it('backs up while it runs, and never over a file', async () => {
      const made = await person.ask(dir, 'hub', {
        method: 'POST',
        path: CONFIG_MAPS,
        body: '{"metadata":{"name":"kept"},"data":{"k":"v"}}',
      })
      assert.equal(made.status, 201, made.body)
      revision = Number((JSON.parse(made.body) as { metadata: { resourceVersion: string } }).metadata.resourceVersion)
      const file = person.file('all.bak')
      succeeded(await person.sluice('backup', '--data-dir', dir, file))
      assert.equal(statSync(file).mode & 0o777, 0o600)
      refused(await person.sluice('backup', '--data-dir', dir, file), /exists; a backup never overwrites a file/)
    })

    it('down stops it, and down again says that nothing runs', async () => {
      succeeded(await person.sluice('down', '--data-dir', dir))
      const again = await person.sluice('down', '--data-dir', dir)
      succeeded(again)
      assert.match(again.stdout, /Nothing runs on/)
    })

    it('a second start finds ports and objects as they were', async () => {
      const ports = portsOf(dir)
      succeeded(await person.sluice('up', '--detach', '--data-dir', dir))
      assert.deepEqual(portsOf(dir), ports)
      const kept = await person.ask(dir, 'hub', { path: `${CONFIG_MAPS}/kept` })
      assert.match(kept.body, /"data":\{"k":"v"\}/)
    })

    it('starts again after kill -9 with everything acknowledged', async () => {
      const made = await person.ask(dir, 'member1', { method: 'POST', path: CONFIG_MAPS, body: '{"metadata":{"name":"late"}}' })
      assert.equal(made.status, 201)
      const { pid } = runOf(dir)
      process.kill(pid, 'SIGKILL')
      await eventually('the end of the process', () => !existsSync(`/proc/${pid}`), 10)
      const up = await person.sluice('up', '--detach', '--port', '0', '--data-dir', dir)
      succeeded(up)
      assert.equal((await person.ask(dir, 'member1', { path: `${CONFIG_MAPS}/late` })).status, 200)
    })

    it('Ctrl-C stops a foreground start cleanly within seconds', async () => {
      const up = person.foreground('up', '--members', '0', '--port', '0', '--data-dir', other)
      await eventually('Sluice is up', () => up.said().includes('Sluice is up'))
      assert.match(up.said(), /Ctrl-C stops it; everything is kept/)
      let seen = ''
      const onData = (text: string): void => {
        seen += text
      }
      const watch = person.ask(other, 'hub', { path: '/api/v1/namespaces?watch=1', onData })
      await eventually('the first event', () => seen.includes('ADDED'))
      const began = performance.now()
      process.kill(runOf(other).pid, 'SIGINT')
      assert.equal(await up.ended, 0, up.said())
      assert.ok(performance.now() - began < 10_000, 'within seconds')
      assert.equal((await watch).status, 200, 'open watches end')
      assert.match(up.said(), /Stopped\. Everything is kept/)
      assert.equal(existsSync(path.join(other, 'run.json')), false)
    })

    it('refuses a directory of a newer version', async () => {
      const file = path.join(other, 'sluice.json')
      const text = readFileSync(file, 'utf8')
      writeFileSync(file, text.replace('"format": 1', '"format": 99'))
      refused(await person.sluice('up', '--data-dir', other), /newer version of Sluice \(format 99/, /sluice up --data-dir OTHER/)
      writeFileSync(file, text)
    })

    it('restores into a new directory, with revisions ahead', async () => {
      const file = person.file('all.bak')
      const restored = person.file('restored')
      refused(await person.sluice('restore', file, '--data-dir', dir), /already holds a data directory/)
      const done = await person.sluice('restore', file, '--data-dir', restored)
      succeeded(done)
      assert.match(done.stdout, /Start it with: sluice up --data-dir/)
      succeeded(await person.sluice('up', '--detach', '--port', '0', '--data-dir', restored))
      assert.deepEqual(person.contexts(restored), ['hub', 'member1', 'member2'])
      assert.match((await person.ask(restored, 'hub', { path: `${CONFIG_MAPS}/kept` })).body, /"data":\{"k":"v"\}/)
      const list = JSON.parse((await person.ask(restored, 'hub', { path: CONFIG_MAPS })).body) as { metadata: { resourceVersion: string } }
      assert.ok(Number(list.metadata.resourceVersion) > revision, `${list.metadata.resourceVersion} > ${revision}`)
      assert.equal((await person.ask(restored, 'member1', { path: `${CONFIG_MAPS}/late` })).status, 404, 'written after the backup')
    })

    it('refuses a damaged backup, and leaves nothing that would be taken for a restored one', async () => {
      const file = person.file('damaged.bak')
      writeFileSync(file, readFileSync(person.file('all.bak')))
      truncateSync(file, statSync(file).size - 20)
      chmodSync(file, 0o644)
      const target = person.file('from-damaged')
      refused(await person.sluice('restore', file, '--data-dir', target), /backup/i)
      assert.equal(existsSync(path.join(target, 'sluice.json')), false)
      succeeded(await person.sluice('restore', person.file('all.bak'), '--data-dir', target))
    })

    it('says that the memory is used up, and what to do; the same place serves with more of it', async () => {
      const place = person.file('small')
      const [node = '', ...args] = person.commandOf('up', '--members', '2', '--quiet', '--port', '0', '--data-dir', place)
      const ended = await person.run(node, '--max-old-space-size=20', ...args)
      assert.equal(ended.exitCode, 1, ended.stderr)
      assert.match(ended.stderr, /the memory is used up\. .*NODE_OPTIONS=--max-old-space-size/)
      succeeded(await person.sluice('up', '--detach', '--port', '0', '--data-dir', place))
      succeeded(await person.sluice('down', '--data-dir', place))
    })

    it('says what to do about a place that cannot be used', async () => {
      const place = person.file('a-file')
      writeFileSync(place, '')
      refused(await person.sluice('up', '--data-dir', place), /cannot be used \(E\w+\)/, /[Cc]hoose another place/)
      refused(
        await person.sluice('backup', '--data-dir', dir, person.file('no', 'such', 'folder.bak')),
        /cannot be used \(ENOENT\)/,
        /mkdir -p/,
      )
      if (uid === undefined) return
      const locked = person.file('locked')
      mkdirSync(locked, { mode: 0o700 })
      refused(await person.sluice('up', '--data-dir', path.join(locked, 'data')), /cannot be used \(EACCES\)/, /chown/)
    })
  })

for (const { name, uid } of people()) describe(`pods of ${name}`, () => podsOf(name, uid, () => program))
