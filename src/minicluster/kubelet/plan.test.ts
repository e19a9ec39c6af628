import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Container, Pod, PodStatus } from '../../kinds/kubernetes/types.ts'
import { pauseAfter } from './backoff.ts'
import type { RunState } from './container-machine.ts'
import type { ContainerView, Run } from './containers.ts'
import { type PodInput, type PodPlan, planPod } from './plan.ts'
import { type RunProgress, type Stop, stopStep } from './stopping.ts'

const T0 = Date.UTC(2026, 0, 1)
const UID = 'u1'

interface Given {
  spec?: Record<string, unknown>
  containers?: Container[]
  initContainers?: Container[]
  metadata?: Record<string, unknown>
  status?: PodStatus
  /** Container → states of its attempts, oldest first. */
  runs?: Record<string, RunState[]>
  input?: Partial<PodInput>
  /** Milliseconds after T0. */
  at?: number
}

const container = (name: string, more: Container = {}): Container => ({ name, image: 'img', command: ['run'], ...more })

function inputOf({ spec, containers = [container('main')], initContainers, metadata, status, runs = {}, input, at = 0 }: Given): PodInput {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'ns', uid: UID, generation: 1, ...metadata },
    spec: { nodeName: 'n', containers, initContainers, restartPolicy: 'Always', ...spec },
    status,
  }
  return {
    pod,
    node: undefined,
    nodeName: 'n',
    runs: Object.entries(runs).flatMap(([name, states]) =>
      states.map((state, attempt): Run => ({ podUid: UID, container: name, attempt, state })),
    ),
    volumes: { state: 'ready', volumes: new Map() },
    podIP: '127.64.0.2',
    hostIP: '127.0.0.1',
    verdictsOf: () => ({}),
    progressOf: () => ({}),
    autopsyOf: () => ({}),
    isAsked: () => false,
    startFailureOf: () => undefined,
    isCleared: false,
    isShuttingDown: false,
    configMap: () => undefined,
    secret: () => undefined,
    machine: { images: new Map(), namespacesRefusal: undefined, env: {} },
    nowMs: T0 + at,
    ...input,
  }
}

const plan = (given: Given): PodPlan => planPod(inputOf(given))

/** What the plan of the same pod reports, as if it had been written. */
function reportedBy(given: Given): PodStatus {
  return { ...given.status, ...(plan(given).status as PodStatus | undefined) }
}

const running = (at = 0): RunState => ({ phase: 'running', startedAtMs: T0 + at, pid: 1 })
const exited = (exitCode: number, from = 0, to = 1000): RunState => ({
  phase: 'exited',
  exitCode,
  startedAtMs: T0 + from,
  finishedAtMs: T0 + to,
})
const started = ({ start }: PodPlan): string[] => start.map(({ spec }) => `${spec.container}/${spec.attempt}`)
const phaseIn = (given: Given): string | undefined => reportedBy(given).phase
const mainIn = (given: Given) => reportedBy(given).containerStatuses?.[0]
const sidecar = (name: string): Container => container(name, { restartPolicy: 'Always' })

describe('what starts', () => {
  const cases: [string, Given, string[]][] = [
    ['a new container', {}, ['main/0']],
    ['all main containers at once', { containers: [container('a'), container('b')] }, ['a/0', 'b/0']],
    ['nothing before the volumes are there', { input: { volumes: { state: 'waiting', message: undefined } } }, []],
    ['nothing that was asked for', { input: { isAsked: () => true } }, []],
    ['nothing that is starting', { runs: { main: [{ phase: 'starting' }] } }, []],
    ['nothing that runs', { runs: { main: [running()] } }, []],
    ['nothing whose end is still looked into', { runs: { main: [exited(1)] }, input: { autopsyOf: () => undefined } }, []],
    ['what ended for the first time, at once', { runs: { main: [exited(0)] }, at: 1000 }, ['main/1']],
    ['what ended again, not before its pause is over', { runs: { main: [exited(1), exited(1, 1000, 2000)] }, at: 11_999 }, []],
    ['what ended again, after its pause', { runs: { main: [exited(1), exited(1, 1000, 2000)] }, at: 12_000 }, ['main/2']],
    ['nothing that failed and is never restarted', { spec: { restartPolicy: 'Never' }, runs: { main: [exited(1)] } }, []],
    ['what failed, on failure', { spec: { restartPolicy: 'OnFailure' }, runs: { main: [exited(1)] } }, ['main/1']],
    ['nothing that ended well, on failure', { spec: { restartPolicy: 'OnFailure' }, runs: { main: [exited(0)] } }, []],
    [
      'by the policy of the container',
      { containers: [container('main', { restartPolicy: 'Never' }), container('b')], runs: { main: [exited(1)], b: [running()] } },
      [],
    ],
    [
      'by a rule of the container',
      {
        spec: { restartPolicy: 'Never' },
        containers: [
          container('main', {
            restartPolicy: 'Never',
            restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
          }),
        ],
        runs: { main: [exited(42)] },
      },
      ['main/1'],
    ],
    ['the first init container alone', { initContainers: [container('i'), container('j')] }, ['i/0']],
    ['nothing while an init container runs', { initContainers: [container('i')], runs: { i: [running()] } }, []],
    ['the next init container', { initContainers: [container('i'), container('j')], runs: { i: [exited(0)] } }, ['j/0']],
    ['an init container that failed', { initContainers: [container('i')], runs: { i: [exited(1)] }, at: 1000 }, ['i/1']],
    [
      'nothing after an init container that failed for good',
      { spec: { restartPolicy: 'Never' }, initContainers: [container('i')], runs: { i: [exited(1)] } },
      [],
    ],
    ['the main container after the init containers', { initContainers: [container('i')], runs: { i: [exited(0)] } }, ['main/0']],
    ['the next after a sidecar that runs', { initContainers: [sidecar('s'), container('i')], runs: { s: [running()] } }, ['i/0']],
    [
      'nothing after a sidecar that only starts',
      { initContainers: [sidecar('s'), container('i')], runs: { s: [{ phase: 'starting' }] } },
      [],
    ],
    [
      'a sidecar again, beside the main container',
      { initContainers: [sidecar('s')], runs: { s: [exited(0)], main: [running()] }, at: 1000 },
      ['s/1'],
    ],
    ['no init container again, once main containers ran', { initContainers: [container('i')], runs: { main: [running()] } }, []],
    ['nothing of a pod that goes', { metadata: { deletionTimestamp: '2026-01-01T00:00:30Z' } }, []],
    ['nothing of a pod that is over', { status: { phase: 'Failed' } }, []],
    ['nothing while the node goes down', { input: { isShuttingDown: true } }, []],
    [
      'nothing of a pod that was active too long',
      { spec: { activeDeadlineSeconds: 5 }, status: { startTime: '2026-01-01T00:00:00Z' }, at: 5000 },
      [],
    ],
  ]
  for (const [name, given, expected] of cases) it(name, () => assert.deepEqual(started(plan(given)), expected))

  it('never takes an attempt that the status has seen', () => {
    const lost = reportedBy({ runs: { main: [exited(1), exited(1, 1000, 2000), running(20_000)] }, at: 20_000 })
    assert.deepEqual(started(plan({ status: lost, at: 400_000 })), [])
    assert.deepEqual(started(plan({ status: lost, at: 800_000, spec: { restartPolicy: 'Never' } })), [])
    const reported = reportedBy({ status: lost, at: 400_000 })
    assert.equal(reported.containerStatuses?.[0]?.lastState?.terminated?.reason, 'ContainerStatusUnknown')
    assert.deepEqual(started(plan({ status: reported, at: 800_000 })), ['main/3'])
  })

  it('runs the program of an image with an entry point here, unless the image is mapped', () => {
    const entryPoint = { name: 'sluice', program: ['node', 'sluice.mjs'], subcommands: { cache: ['node', 'cache.mjs'] } }
    const entryPoints = new Map([['sluice.dev/sluice', entryPoint]])
    const image = 'sluice.dev/sluice:1.2'
    const specOf = (more: Container, images = new Map<string, string>()) =>
      plan({
        containers: [{ name: 'main', image, env: [{ name: 'ROLE', value: 'worker' }], ...more }],
        input: { machine: { images, entryPoints, namespacesRefusal: undefined, env: {} } },
      }).start[0]?.spec
    const own = specOf({ args: ['cache', '$(ROLE)'] })
    assert.deepEqual([own?.command, own?.entryPoint], [['node', 'cache.mjs', 'worker'], entryPoint])
    assert.deepEqual(specOf({ command: ['sh', '-c', 'true'] })?.command, ['sh', '-c', 'true'])
    const mapped = specOf({ command: ['sluice', 'cache'] }, new Map([[image, '/images/sluice']]))
    assert.deepEqual([mapped?.command, mapped?.imageRoot, mapped?.entryPoint], [['sluice', 'cache'], '/images/sluice', undefined])
  })

  it('asks for the same run again while the machine does not know it', () => {
    const failing = { input: { startFailureOf: () => 'disk full' } }
    assert.deepEqual(started(plan(failing)), ['main/0'])
    assert.deepEqual(mainIn(failing)?.state?.waiting, { reason: 'RunContainerError', message: 'disk full' })
    const wrong = { input: { startFailureOf: () => 'CreateContainerConfigError: no such path' } }
    assert.deepEqual(mainIn(wrong)?.state?.waiting, { reason: 'CreateContainerConfigError', message: 'no such path' })
  })
})

describe('the phase', () => {
  const never = { restartPolicy: 'Never' }
  const cases: [string, Given, string][] = [
    ['of a new pod', {}, 'Pending'],
    ['while one of two containers waits', { containers: [container('a'), container('b')], runs: { a: [running()] } }, 'Pending'],
    ['when all run', { runs: { main: [running()] } }, 'Running'],
    [
      'while one runs and one has ended',
      { spec: never, containers: [container('a'), container('b')], runs: { a: [running()], b: [exited(1)] } },
      'Running',
    ],
    ['in init', { initContainers: [container('i')], runs: { i: [running()] } }, 'Pending'],
    ['while an init container is tried again', { initContainers: [container('i')], runs: { i: [exited(1)] } }, 'Pending'],
    ['when an init container failed for good', { spec: never, initContainers: [container('i')], runs: { i: [exited(1)] } }, 'Failed'],
    ['when it ended well', { spec: never, runs: { main: [exited(0)] } }, 'Succeeded'],
    ['when it failed', { spec: never, runs: { main: [exited(1)] } }, 'Failed'],
    ['when it failed and is tried again', { spec: { restartPolicy: 'OnFailure' }, runs: { main: [exited(1)] } }, 'Running'],
    ['in a crash loop', { runs: { main: [exited(1), exited(1, 1000, 2000)] }, at: 3000 }, 'Running'],
    ['while a sidecar still runs', { spec: never, initContainers: [sidecar('s')], runs: { main: [exited(0)], s: [running()] } }, 'Running'],
    [
      'when the sidecar has ended too',
      { spec: never, initContainers: [sidecar('s')], runs: { main: [exited(0)], s: [exited(143)] } },
      'Succeeded',
    ],
    [
      'of a deleted pod that still runs',
      { metadata: { deletionTimestamp: '2026-01-01T00:00:30Z' }, runs: { main: [running()] } },
      'Running',
    ],
    [
      'of a deleted pod whose program ended badly',
      { metadata: { deletionTimestamp: '2026-01-01T00:00:30Z' }, runs: { main: [exited(143)] } },
      'Failed',
    ],
    [
      'of a deleted pod whose program ended well',
      { metadata: { deletionTimestamp: '2026-01-01T00:00:30Z' }, runs: { main: [exited(0)] } },
      'Succeeded',
    ],
    ['never leaves Succeeded', { status: { phase: 'Succeeded' }, runs: { main: [running()] } }, 'Succeeded'],
    ['never leaves Failed', { status: { phase: 'Failed' }, runs: { main: [exited(0)] } }, 'Failed'],
    [
      'stays while the node goes down',
      { spec: never, status: { phase: 'Running' }, runs: { main: [exited(143)] }, input: { isShuttingDown: true } },
      'Running',
    ],
  ]
  for (const [name, given, expected] of cases) it(name, () => assert.equal(phaseIn(given), expected))
})

describe('the status of a container', () => {
  it('waits for its volumes, and says for what', () => {
    const given: Given = { input: { volumes: { state: 'waiting', message: 'no disk' } } }
    assert.deepEqual(mainIn(given)?.state?.waiting, { reason: 'ContainerCreating', message: 'no disk' })
    assert.deepEqual(
      plan(given).events.map(({ reason, message }) => [reason, message]),
      [['FailedMount', 'no disk']],
    )
    assert.deepEqual(plan({ ...given, status: reportedBy(given) }).events, [])
  })

  it('runs, with what it was before', () => {
    const crashed = { runs: { main: [exited(3)] }, at: 1000 }
    const status = reportedBy(crashed)
    assert.equal(status.containerStatuses?.[0]?.state?.terminated?.exitCode, 3)
    const again: Given = { status, runs: { main: [exited(3), running(2000)] }, at: 2000 }
    const main = mainIn(again)
    assert.deepEqual([main?.restartCount, main?.ready, main?.started], [1, true, true])
    assert.equal(main?.lastState?.terminated?.exitCode, 3)
    assert.equal(main?.containerID, 'sluice://u1/main/1')
    assert.deepEqual(
      plan(again).events.map(({ reason }) => reason),
      ['Pulled', 'Created', 'Started'],
    )
  })

  it('is not reported twice', () => {
    const given: Given = { runs: { main: [running()] } }
    const again = plan({ ...given, status: reportedBy(given), at: 60_000 })
    assert.deepEqual([again.status, again.events, again.keyedEvents], [undefined, [], []])
  })

  it('keeps what was reported of an end', () => {
    const given: Given = {
      spec: { restartPolicy: 'Never' },
      runs: { main: [exited(1)] },
      input: { autopsyOf: () => ({ message: 'goodbye' }) },
    }
    const status = reportedBy(given)
    assert.equal(status.containerStatuses?.[0]?.state?.terminated?.message, 'goodbye')
    assert.equal(plan({ ...given, status, input: { autopsyOf: () => undefined } }).status, undefined)
  })

  it('is ready when its probe says so, and not before it has started', () => {
    const containers = [container('main', { startupProbe: {}, readinessProbe: {} })]
    const of = (verdicts: object) => mainIn({ containers, runs: { main: [running()] }, input: { verdictsOf: () => verdicts } })
    assert.deepEqual([of({})?.started, of({})?.ready], [false, false])
    assert.deepEqual([of({ startup: true })?.started, of({ startup: true })?.ready], [true, false])
    assert.equal(of({ startup: true, readiness: true })?.ready, true)
    assert.equal(of({ startup: true, readiness: false })?.ready, false)
  })
})

describe('readiness gates', () => {
  const spec = { readinessGates: [{ conditionType: 'example.com/open' }] }
  const readyOf = (conditions: PodStatus['conditions']) =>
    reportedBy({ spec, runs: { main: [running()] }, status: { conditions } }).conditions?.find(({ type }) => type === 'Ready')

  it('are waited for, beside the conditions of others', () => {
    assert.equal(readyOf([])?.message, 'corresponding condition of pod readiness gate "example.com/open" does not exist.')
    assert.equal(readyOf([{ type: 'example.com/open', status: 'False' }])?.reason, 'ReadinessGatesNotReady')
    assert.equal(readyOf([{ type: 'example.com/open', status: 'True' }])?.status, 'True')
    const reported = reportedBy({
      spec,
      runs: { main: [running()] },
      status: { conditions: [{ type: 'example.com/open', status: 'True' }] },
    })
    assert.deepEqual(reported.conditions?.[0], { type: 'example.com/open', status: 'True' })
  })
})

describe('the end of a pod', () => {
  const going = { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 }

  it('ends its programs, clears the machine, reports, and then goes', () => {
    const first = plan({ metadata: going, runs: { main: [running()] } })
    assert.deepEqual(
      first.signal.map(({ signal, run }) => `${signal} ${run.container}`),
      ['SIGTERM main'],
    )
    assert.deepEqual([first.clear, first.remove], [false, false])
    const ended: Given = { metadata: going, runs: { main: [exited(143)] }, at: 1000 }
    assert.deepEqual([plan(ended).clear, plan(ended).remove], [true, false])
    const status = reportedBy(ended)
    assert.deepEqual([plan({ ...ended, status }).clear, plan({ ...ended, status }).remove], [true, false])
    const cleared: Given = { ...ended, status, runs: {}, input: { isCleared: true } }
    assert.deepEqual([plan(cleared).status, plan(cleared).clear, plan(cleared).remove], [undefined, false, true])
  })

  it('waits for a start that is on its way, to end that too', () => {
    const { signal, clear, remove } = plan({ metadata: going, input: { isAsked: ({ attempt }) => attempt === 0, isCleared: true } })
    assert.deepEqual([signal, clear, remove], [[], false, false])
  })

  it('does not ask again for what only others keep', () => {
    const held = { ...going, deletionGracePeriodSeconds: 0, finalizers: ['example.com/hold'] }
    const given: Given = { metadata: held, status: { phase: 'Failed' }, input: { isCleared: true } }
    assert.equal(plan({ ...given, status: reportedBy(given) }).remove, false)
  })

  it('ends sidecars after the others, the last one first', () => {
    const initContainers = [sidecar('s'), sidecar('t')]
    const of = (runs: Given['runs']) => plan({ metadata: going, initContainers, runs }).signal.map(({ run }) => run.container)
    assert.deepEqual(of({ s: [running()], t: [running()], main: [running()] }), ['main'])
    assert.deepEqual(of({ s: [running()], t: [running()], main: [exited(0)] }), ['t'])
    assert.deepEqual(of({ s: [running()], t: [exited(0)], main: [exited(0)] }), ['s'])
  })
})

describe('what is not well', () => {
  const stopsOf = (more: Container, verdicts: object) => {
    const { signal, keyedEvents } = plan({
      containers: [container('main', more)],
      runs: { main: [running()] },
      input: { verdictsOf: () => verdicts },
    })
    return [...signal.map((one) => one.signal), ...keyedEvents.map(({ message }) => message)]
  }
  it('is ended, and says why', () => {
    assert.deepEqual(stopsOf({ livenessProbe: {} }, { liveness: false }), [
      'SIGTERM',
      'Container main failed liveness probe, will be restarted',
    ])
    assert.deepEqual(stopsOf({ startupProbe: {} }, { startup: false }), [
      'SIGTERM',
      'Container main failed startup probe, will be restarted',
    ])
    assert.deepEqual(stopsOf({ livenessProbe: {}, lifecycle: { stopSignal: 'SIGINT' } }, { liveness: false })[0], 'SIGINT')
    assert.deepEqual(stopsOf({ readinessProbe: {} }, { readiness: false }), [])
  })
})

it('a container whose image changes is ended, and starts as what it is now', () => {
  const before: Given = { runs: { main: [running()] } }
  const status = reportedBy(before)
  const changed: Given = { ...before, status, containers: [container('main', { image: 'newer' })] }
  const { signal, keyedEvents } = plan(changed)
  assert.deepEqual([signal.length, keyedEvents[0]?.message], [1, 'Container main definition changed, will be restarted'])
  assert.equal(mainIn(changed)?.image, 'img')
  const ended = reportedBy({ ...changed, runs: { main: [exited(143)] }, at: 1000 })
  const again = { ...changed, status: ended, runs: { main: [exited(143), running(2000)] }, at: 2000 }
  assert.equal(mainIn(again)?.image, 'newer')
  assert.deepEqual(plan({ ...again, status: reportedBy(again) }).signal, [])
})

describe('a stop', () => {
  const view = (more: Container = {}) => ({ name: 'main', spec: container('main', more) }) as ContainerView
  const hook: Container = { lifecycle: { preStop: { sleep: { seconds: 5 } } } }
  const stop = (more: Partial<Stop> = {}): Stop => ({ view: view(), attempt: 0, message: '', graceMs: 30_000, isItsTurn: true, ...more })
  const done = (from: number, to: number): RunProgress['preStop'] => ({ state: 'done', beganAtMs: T0 + from, endedAtMs: T0 + to })
  const cases: [string, Stop, RunProgress, number, object][] = [
    ['begins with the signal', stop(), {}, 0, { signal: 'SIGTERM' }],
    ['begins with the hook', stop({ view: view(hook) }), {}, 0, { preStop: true }],
    ['waits for the hook', stop({ view: view(hook) }), { preStop: { state: 'running' } }, 0, { requeueAtMs: undefined }],
    ['goes on after the hook', stop({ view: view(hook) }), { preStop: done(0, 5000) }, 5000, { signal: 'SIGTERM' }],
    ['has no time for a hook without grace', stop({ view: view(hook), graceMs: 0 }), {}, 0, { signal: 'SIGTERM' }],
    ['waits for its turn', stop({ isItsTurn: false }), {}, 0, { requeueAtMs: undefined }],
    ['waits for its turn until the deadline', stop({ isItsTurn: false, deadlineMs: T0 + 9 }), {}, 10, { signal: 'SIGTERM' }],
    [
      'does not wait for a hook past the deadline',
      stop({ view: view(hook), deadlineMs: T0 + 9 }),
      { preStop: { state: 'running' } },
      10,
      { signal: 'SIGTERM' },
    ],
    ['waits for the grace', stop(), { termAtMs: T0 }, 29_999, { requeueAtMs: T0 + 30_000 }],
    ['kills after the grace', stop(), { termAtMs: T0 }, 30_000, { signal: 'SIGKILL' }],
    [
      'counts the hook into the grace',
      stop({ view: view(hook) }),
      { preStop: done(0, 20_000), termAtMs: T0 + 20_000 },
      30_000,
      { signal: 'SIGKILL' },
    ],
    [
      'leaves two seconds after a long hook',
      stop({ view: view(hook) }),
      { preStop: done(0, 30_000), termAtMs: T0 + 30_000 },
      31_000,
      { requeueAtMs: T0 + 32_000 },
    ],
    ['kills once', stop(), { termAtMs: T0, killAtMs: T0 + 30_000 }, 31_000, {}],
    ['holds to the deadline of its pod', stop({ deadlineMs: T0 + 4000 }), { termAtMs: T0 }, 4000, { signal: 'SIGKILL' }],
  ]
  for (const [name, given, progress, at, expected] of cases) it(name, () => assert.deepEqual(stopStep(given, progress, T0 + at), expected))
})

describe('the pause before a restart', () => {
  const end = (from: number, to: number) => ({ exitCode: 1, reason: 'Error', startedAtMs: from, finishedAtMs: to })
  const cases: [string, number, number][] = [
    ['none after the first run', 0, 0],
    ['10 s after one that began at once', 1, 10_000],
  ]
  for (const [name, attempt, expected] of cases)
    it(name, () => assert.equal(pauseAfter(end(1000, 2000), { finishedAtMs: 1000 }, attempt), expected))

  it('doubles up to five minutes', () => {
    const pauses: number[] = []
    let [finishedAtMs, pause] = [1000, pauseAfter(end(0, 1000), undefined, 0)]
    for (let attempt = 1; attempt < 9; attempt++) {
      const run = end(finishedAtMs + pause + 5, finishedAtMs + pause + 500)
      const next = pauseAfter(run, { finishedAtMs }, attempt)
      ;[finishedAtMs, pause] = [run.finishedAtMs, next]
      pauses.push(next / 1000)
    }
    assert.deepEqual(pauses, [10, 20, 40, 80, 160, 300, 300, 300])
  })

  it('begins anew after ten minutes of running', () => assert.equal(pauseAfter(end(0, 600_001), { finishedAtMs: -300_000 }, 7), 0))
  it('is read off the number of runs where the one before is not known', () => assert.equal(pauseAfter(end(0, 1), undefined, 3), 40_000))
})

it('no content of a pod breaks the plan', () => {
  const odd: Pod[] = [
    { apiVersion: 'v1', kind: 'Pod', metadata: {} },
    { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: {}, status: {} },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { deletionTimestamp: 'soon' },
      spec: { containers: [{}] },
      status: { containerStatuses: [{}] },
    },
    { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { containers: [{ name: '__proto__' }] }, status: { startTime: 'never' } },
  ]
  for (const pod of odd) assert.ok(planPod({ ...inputOf({}), pod }).start.length <= 1)
})
