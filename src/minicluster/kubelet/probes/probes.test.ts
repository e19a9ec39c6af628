import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createVirtualClock } from '../../../faultsim/world/virtual-clock.ts'
import { FakeMachine } from '../fake-machine.ts'
import { checkProbe } from './check.ts'
import { afterAnswer, FRESH } from './probe-state.ts'

const yes = { ok: true, output: '' }
const no = { ok: false, output: 'sick' }

describe('a row of answers', () => {
  const verdictsOf = (kind: 'startup' | 'readiness' | 'liveness', probe: object, answers: readonly (typeof yes | { error: string })[]) => {
    let state = FRESH
    return answers.map((answer) => {
      state = afterAnswer(state, answer, { kind, probe })
      return state.verdict
    })
  }
  it('counts after so many that are equal', () => {
    const probe = { successThreshold: 2, failureThreshold: 3 }
    assert.deepEqual(verdictsOf('readiness', probe, [yes, yes, no, no, yes, no, no, no, yes, yes]), [
      undefined,
      true,
      true,
      true,
      true,
      true,
      true,
      false,
      false,
      true,
    ])
  })
  it('takes the defaults of Kubernetes', () => assert.deepEqual(verdictsOf('liveness', {}, [no, no, no]), [undefined, undefined, false]))
  it('says nothing when nothing could be asked', () => {
    assert.deepEqual(verdictsOf('readiness', {}, [yes, { error: 'x' }, { error: 'x' }, { error: 'x' }]), [true, true, true, true])
  })
  it('stops asking when it has led to an end, or a start', () => {
    assert.equal(afterAnswer(FRESH, yes, { kind: 'startup', probe: {} }).isOnHold, true)
    assert.equal(afterAnswer(FRESH, no, { kind: 'liveness', probe: { failureThreshold: 1 } }).isOnHold, true)
    assert.equal(afterAnswer(FRESH, no, { kind: 'readiness', probe: { failureThreshold: 1 } }).isOnHold, false)
  })
  it('is one event while it goes on', () => {
    const as = { kind: 'readiness' as const, probe: {} }
    const first = afterAnswer(FRESH, no, as)
    const second = afterAnswer(first, no, as)
    const third = afterAnswer(afterAnswer(second, yes, as), no, as)
    assert.deepEqual([first.failure?.number, second.failure?.number, third.failure?.number], [1, 1, 2])
    assert.equal(first.failure?.message, 'Readiness probe failed: sick')
  })
})

describe('one question', () => {
  const run = { podUid: 'u', container: 'c', attempt: 0 }
  async function ask(probe: object, program: object = { port: 80 }) {
    const clock = createVirtualClock(0)
    const machine = new FakeMachine({ clock, programs: { p: program } })
    await machine.start({
      ...run,
      namespace: 'n',
      pod: 'p',
      command: ['p'],
      env: { POD_IP: '127.64.0.2' },
      mounts: [],
      hostname: '',
      tty: false,
      stdin: false,
    })
    clock.fireNext()
    const container = { name: 'c', ports: [{ name: 'web', containerPort: 80 }] }
    const answer = checkProbe(probe, { machine, clock, run, container, podIP: '127.64.0.2', timeoutMs: 1000 })
    for (let i = 0; i < 10; i++) await Promise.resolve()
    while (clock.fireNext()) for (let i = 0; i < 10; i++) await Promise.resolve()
    return answer
  }
  const cases: [string, object, object, object][] = [
    ['a port that answers', { tcpSocket: { port: 80 } }, { port: 80 }, { ok: true, output: '' }],
    ['a port by name', { tcpSocket: { port: 'web' } }, { port: 80 }, { ok: true, output: '' }],
    ['a port nobody has', { tcpSocket: { port: 'x' } }, {}, { error: "couldn't find port: x for container: c" }],
    [
      'a port that is closed',
      { tcpSocket: { port: 81 } },
      { port: 80 },
      { ok: false, output: 'dial tcp 127.64.0.2:81: connect: connection refused' },
    ],
    ['a page', { httpGet: { port: 80, path: '/x' } }, { port: 80, http: { '/x': 302 } }, { ok: true, output: '' }],
    [
      'a page that is not there',
      { httpGet: { port: 80 } },
      { port: 80, http: { '/': 404 } },
      { ok: false, output: 'HTTP probe failed with statuscode: 404' },
    ],
    [
      'another host',
      { httpGet: { port: 80, host: '10.0.0.1' } },
      { port: 80 },
      { ok: false, output: 'Get "http://10.0.0.1:80/": dial tcp 10.0.0.1:80: connect: connection refused' },
    ],
    ['a command', { exec: { command: ['t'] } }, { exec: { t: { output: 'fine' } } }, { ok: true, output: 'fine' }],
    ['a command that fails', { exec: { command: ['t'] } }, { exec: { t: { exitCode: 2, output: 'bad' } } }, { ok: false, output: 'bad' }],
    [
      'a command that takes too long',
      { exec: { command: ['t', 'x'] } },
      { exec: { t: { afterMs: 5000 } } },
      { ok: false, output: 'command timed out: "t x" timed out after 1s' },
    ],
    ['nothing', {}, {}, { error: 'missing probe handler for c' }],
  ]
  for (const [name, probe, program, expected] of cases) it(name, async () => assert.deepEqual(await ask(probe, program), expected))
})
