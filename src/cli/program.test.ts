import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type FakeMachine, fakeMachine } from './fake-machine.ts'
import { runCommand } from './program.ts'

const DIR = '/home/me/.sluice'
const settings = (more: object = {}): string => JSON.stringify({ format: 1, members: 3, ports: { hub: 7443 }, ...more })

interface Case {
  args: string
  /** Prepares the machine before the command. */
  on?(machine: FakeMachine): void
  code: number
  /** In the output for users, in order. */
  says: RegExp[]
}

const withDir = (machine: FakeMachine): void => void machine.texts.set(`${DIR}/sluice.json`, settings())
const withRun = (machine: FakeMachine, bare = false): void => {
  withDir(machine)
  machine.texts.set(`${DIR}/run.json`, JSON.stringify({ pid: 42, hub: 'https://127.0.0.1:7443', bare, mark: 'then' }))
  machine.running.set(42, 'then')
}

const withCache = (machine: FakeMachine): void => void machine.texts.set('/cache.mjs', '')

const cases: Record<string, Case> = {
  'a program of the cache that is not there': {
    args: 'cache master',
    code: 1,
    says: [/\/cache\.mjs is missing: build it with npm run build/],
  },
  'help for the cache': { args: 'cache --help', code: 0, says: [/builtin cache/, /master, worker, client/] },
  'up with another number of members': {
    args: 'up --members 2',
    on: withDir,
    code: 1,
    says: [
      /\/home\/me\/\.sluice holds 3 members, and --members says 2/,
      /sluice up --data-dir \/home\/me\/\.sluice/,
      /sluice up --members 2 --data-dir OTHER/,
    ],
  },
  'up with a story that there is not': { args: 'up --story tale', code: 1, says: [/there is no story "tale"; there is fleet, gate, data/] },
  'up that ends without a story': { args: 'up --exit', code: 1, says: [/sluice up --story fleet --exit/] },
  'up with a story in the background': {
    args: 'up --story fleet --detach',
    code: 1,
    says: [/cannot be told: --detach goes to the background/],
  },
  'up with a story and too few members': {
    args: 'up --story fleet --members 2',
    code: 1,
    says: [/cannot be told: it needs 3 members, and there are 2/],
  },
  'up with a story without pods': {
    args: 'up --story fleet --process-nodes 0',
    code: 1,
    says: [/cannot be told: its pods run for real, and there are no process nodes/],
  },
  'up with a story and none': { args: 'up --story fleet --quiet', code: 1, says: [/leave one of them out/] },
  'up with a gate that there is not': {
    args: 'up --feature-gates Failure=true',
    code: 1,
    says: [/--feature-gates: there is no gate "Failure"; there are Failover, GracefulEviction, /],
  },
  'up with a time that is none': {
    args: 'up --cluster-failure-threshold 2s',
    code: 1,
    says: [/--cluster-failure-threshold takes a number from 0 to 1000000, not "2s"/],
  },
  'controllers with a gate that there is not': {
    args: 'controllers --role hub --feature-gates Failover=perhaps',
    code: 1,
    says: [/--feature-gates: Failover is true or false, not "perhaps"/],
  },
  'up on a directory of a newer version': {
    args: 'up',
    on: (machine) => machine.texts.set(`${DIR}/sluice.json`, settings({ format: 2, members: 'many' })),
    code: 1,
    says: [
      /written by a newer version of Sluice \(format 2, this one knows 1\)/,
      /Run that version, or start fresh elsewhere with: sluice up --data-dir OTHER/,
    ],
  },
  'up a second time': {
    args: 'up',
    on: withRun,
    code: 1,
    says: [/already running on \/home\/me\/\.sluice \(process 42\)/, /export KUBECONFIG=\/home\/me\/\.sluice\/kubeconfig/, /sluice down\n/],
  },
  'up a second time elsewhere': {
    args: 'up --data-dir other',
    on(machine) {
      machine.texts.set('/home/me/other/run.json', JSON.stringify({ pid: 42, mark: '' }))
      machine.running.set(42, 'x')
    },
    code: 1,
    says: [/already running on \/home\/me\/other/, /sluice down --data-dir other/],
  },
  'up where nothing may be read': {
    args: 'up',
    on: (machine) => machine.denied.push(DIR),
    code: 1,
    says: [/\/home\/me\/\.sluice\/sluice\.json cannot be used \(EACCES\)/, /chown, chmod.*or choose another place; --data-dir D/],
  },
  'up with damaged settings': {
    args: 'up',
    on: (machine) => machine.texts.set(`${DIR}/sluice.json`, '{'),
    code: 1,
    says: [/sluice\.json is damaged/, /move it away and start again.*sluice up --members N/],
  },
  'up with settings that are null': {
    args: 'up',
    on: (machine) => machine.texts.set(`${DIR}/sluice.json`, 'null'),
    code: 1,
    says: [/is damaged/],
  },
  'up with a damaged run.json': {
    args: 'up',
    on(machine) {
      withDir(machine)
      machine.texts.set(`${DIR}/run.json`, '{"pid":"many"}')
    },
    code: 1,
    says: [/run\.json is damaged: it does not name a process/, /If nothing runs there, move it away/],
  },
  'up with a port that is none': { args: 'up --port http', code: 1, says: [/--port takes a whole number from 0 to 65535, not "http"/] },
  'up with a port too high': { args: 'up --port 70000', code: 1, says: [/from 0 to 65535/] },
  'up with no room for members': { args: 'up --port 65535', code: 1, says: [/leaves no room for 3 members.*choose a port up to 65532/] },
  'up with members that are none': { args: 'up --members -1', code: 1, says: [/--members takes a whole number from 0 to 100, not "-1"/] },
  'up with too many members': { args: 'up --members 101', code: 1, says: [/from 0 to 100/] },
  'up with half a member': { args: 'up --members 1.5', code: 1, says: [/whole number/] },
  'up with an unknown flag': { args: 'up --fast', code: 1, says: [/unknown option '--fast'/, /sluice --help shows what there is/] },
  'up with an argument': { args: 'up now', code: 1, says: [/too many arguments/] },
  'down without a directory': {
    args: 'down',
    code: 1,
    says: [/there is no data directory \/home\/me\/\.sluice; name the right one with --data-dir/],
  },
  'down when nothing runs': {
    args: 'down',
    on: withDir,
    code: 0,
    says: [/Nothing runs on \/home\/me\/\.sluice\. Start it with: sluice up\n/],
  },
  'down when another process has the number now': {
    args: 'down',
    on(machine) {
      withRun(machine, true)
      machine.running.set(42, 'a later process')
    },
    code: 0,
    says: [/Nothing runs on/],
  },
  'backup of nothing': {
    args: 'backup x.bak',
    code: 1,
    says: [/there is nothing to back up in \/home\/me\/\.sluice; name the right place with --data-dir/],
  },
  'backup onto a file': {
    args: 'backup x.bak',
    on(machine) {
      withDir(machine)
      machine.texts.set('/home/me/x.bak', 'mine')
    },
    code: 1,
    says: [/\/home\/me\/x\.bak exists; a backup never overwrites a file, choose another name/],
  },
  'backup without a file': { args: 'backup', code: 1, says: [/missing required argument 'file'/] },
  'backup into a folder that may not be written': {
    args: 'backup /root/x.bak',
    on(machine) {
      withDir(machine)
      machine.denied.push('/root')
    },
    code: 1,
    says: [/\/root\/x\.bak cannot be used \(EACCES\)/],
  },
  'restore of no file': {
    args: 'restore x.bak --data-dir new',
    code: 1,
    says: [/there is no file \/home\/me\/x\.bak; name one that `sluice backup` wrote/],
  },
  'restore into a directory that is there': {
    args: 'restore x.bak --data-dir .sluice',
    on(machine) {
      withDir(machine)
      machine.texts.set('/home/me/x.bak', 'backup')
    },
    code: 1,
    says: [/\.sluice already holds a data directory; restore makes a new one: name another with --data-dir/],
  },
  'restore without a directory': { args: 'restore x.bak', code: 1, says: [/required option '--data-dir <new>' not specified/] },
  'repair of nothing': {
    args: 'repair',
    code: 1,
    says: [/there is no store in \/home\/me\/\.sluice; name the right place with --data-dir/],
  },
  'repair while it runs': {
    args: 'repair',
    on(machine) {
      withRun(machine)
      machine.folders.add(`${DIR}/store`)
    },
    code: 1,
    says: [/process 42 serves.*stop it first: sluice down --data-dir/],
  },
  version: { args: 'version', code: 0, says: [/^sluice 1\.2\.3 \(speaks Kubernetes v1\.36\.3\+sluice, on Node v22\.0\.0\)\n$/] },
  'version in yaml': { args: 'version -o yaml', code: 0, says: [/^sluice: 1\.2\.3\nkubernetes: v1\.36\.3\+sluice\n/] },
  'version in another form': { args: 'version -o xml', code: 1, says: [/-o takes json or yaml, not "xml"/] },
  help: {
    args: '--help',
    code: 0,
    says: [/Usage: sluice/, /up .*start the hub/, /Examples:\n {2}sluice up /, /kubectl --context member1 get ns/],
  },
  'help of a command': {
    args: 'up --help',
    code: 0,
    says: [/--data-dir <dir>/, /--port <port>/, /--members <n>/, /--bare/, /--detach/, /--reference-consent <mode>/],
  },
  'an unknown command': { args: 'start', code: 1, says: [/unknown command 'start'/] },
}

describe('the command line', () => {
  for (const [what, { args, on, code, says }] of Object.entries(cases))
    it(`answers ${what}`, async () => {
      const machine = fakeMachine()
      on?.(machine)
      assert.equal(await runCommand(machine, args.split(' ')), code, machine.said.err)
      const said = machine.said.out + machine.said.err
      for (const expected of says) assert.match(said, expected)
      assert.doesNotMatch(said, /\n {4}at /, 'no stack for what people can mend')
      assert.equal(machine.said.out === '', code !== 0, 'failures are told on stderr, answers on stdout')
    })

  it('runs a program of the cache from the file beside it, and ends as that does', async () => {
    const machine = fakeMachine()
    withCache(machine)
    assert.equal(await runCommand(machine, ['cache', 'client']), 0)
    assert.equal(await runCommand(machine, ['cache', 'decommission', 'pod-1']), 0)
    assert.equal(await runCommand(machine, ['cache', 'fails']), 3)
    assert.deepEqual(machine.calls, ['load /cache.mjs client', 'load /cache.mjs decommission pod-1', 'load /cache.mjs fails'])
    assert.deepEqual(machine.said, { out: '', err: '' })
  })

  it('says version in JSON for machines', async () => {
    const machine = fakeMachine()
    assert.equal(await runCommand(machine, ['version', '-o', 'json']), 0)
    assert.deepEqual(JSON.parse(machine.said.out), { sluice: '1.2.3', kubernetes: 'v1.36.3+sluice', node: 'v22.0.0' })
  })
})

describe('down', () => {
  it('asks the process to stop and waits until it has', async () => {
    const machine = fakeMachine()
    withRun(machine)
    machine.onSignal = () => void machine.clock.after(300, () => machine.running.delete(42))
    assert.equal(await runCommand(machine, ['down']), 0)
    assert.deepEqual(machine.calls, ['SIGTERM 42'])
    assert.match(machine.said.out, /Stopped\. Everything is kept/)
  })

  it('starts one that was killed once more, to end the pods that outlived it', async () => {
    const machine = fakeMachine()
    withRun(machine)
    machine.running.delete(42)
    machine.onStart = () => {
      machine.running.set(77, 'now')
      machine.texts.set(`${DIR}/run.json`, JSON.stringify({ pid: 77, hub: 'https://127.0.0.1:7443', bare: false, mark: 'now' }))
    }
    machine.onSignal = () => void machine.clock.after(300, () => machine.running.delete(77))
    assert.equal(await runCommand(machine, ['down']), 0)
    assert.deepEqual(machine.calls, [`start up --data-dir ${DIR} --quiet`, 'SIGTERM 77'])
    assert.match(machine.said.out, /Sluice was killed \(process 42\).*started once more[\s\S]*Stopped\. Everything is kept/)
  })

  it('says that pods may be running if it cannot be started', async () => {
    const machine = fakeMachine()
    withRun(machine)
    machine.running.delete(42)
    machine.onStart = () => void machine.running.delete(77)
    assert.equal(await runCommand(machine, ['down']), 1)
    assert.match(machine.said.err, /it did not start, so pods may be running: look at .*\/log, then run sluice down again/)
  })

  it('says what to do about one that does not', async () => {
    const machine = fakeMachine()
    withRun(machine)
    assert.equal(await runCommand(machine, ['down']), 1)
    assert.match(
      machine.said.err,
      /process 42 has not ended within 60 s; look at .*\/log, or end it yourself: kill -9 42 \(nothing acknowledged is lost\)/,
    )
  })
})

describe('up --detach', () => {
  it('passes on what was asked for, and tells why it did not start', async () => {
    const machine = fakeMachine()
    machine.onStart = () => {
      machine.texts.set(`${DIR}/log`, 'one\ntwo\ncannot listen on 127.0.0.1:7443\n')
      machine.running.delete(77)
    }
    assert.equal(await runCommand(machine, ['up', '--detach', '--members', '1', '--port', '0', '--bare']), 1)
    assert.deepEqual(machine.calls, [`start up --data-dir ${DIR} --port 0 --members 1 --bare --quiet`])
    assert.match(machine.said.err, /it did not start:\n\none\ntwo\ncannot listen on 127\.0\.0\.1:7443/)
  })

  it('gives up on one that never answers, and says where to look', async () => {
    const machine = fakeMachine()
    assert.equal(await runCommand(machine, ['up', '--detach']), 1)
    assert.match(machine.said.err, /does not answer after 120 s; look at \/home\/me\/\.sluice\/log/)
  })
})
