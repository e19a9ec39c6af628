/** The parts of the kubelet that touch the machine: addresses, volumes, starts, and the shutdown of a node. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../../client/client.ts'
import { createVirtualClock } from '../../faultsim/world/virtual-clock.ts'
import type { Pod, PodStatus } from '../../kinds/kubernetes/types.ts'
import { unconnected } from '../../runtime/module/unconnected.ts'
import { createAddresses } from './addresses.ts'
import { kubeletEffects } from './effects.ts'
import { FakeMachine, LINK } from './fake-machine.ts'
import type { StartOrder } from './run-spec.ts'
import { createNodeShutdown } from './shutdown.ts'
import { keyOfSetUp, setUpVolume } from './volumes/set-up.ts'

const CIDR = '127.64.64.0/24'
const aPod = (uid: string, status: PodStatus = {}, spec: Pod['spec'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { uid },
  spec,
  status,
})
const aMachine = (): FakeMachine => new FakeMachine({ clock: createVirtualClock(0), programs: { p: {} } })

describe('addresses', () => {
  it('are given from the lowest, held until the status has them, and kept', () => {
    const addresses = createAddresses()
    const of = (pod: Pod, others: Pod[] = []) => addresses.addressOf(pod, CIDR, () => others)
    assert.equal(of(aPod('a')), '127.64.64.2')
    assert.equal(of(aPod('a')), '127.64.64.2')
    assert.equal(of(aPod('b')), '127.64.64.3')
    const reported = aPod('a', { podIP: '127.64.64.2' })
    assert.equal(of(reported), '127.64.64.2')
    assert.equal(of(aPod('c'), [reported]), '127.64.64.4')
    addresses.release('b')
    assert.equal(of(aPod('d'), [reported]), '127.64.64.3')
  })
  it('of pods that are over are free again; pods of the host have the host’s', () => {
    const addresses = createAddresses()
    const over = aPod('a', { podIP: '127.64.64.2', phase: 'Succeeded' })
    assert.equal(
      addresses.addressOf(aPod('b'), CIDR, () => [over]),
      '127.64.64.2',
    )
    assert.equal(
      addresses.addressOf(aPod('c', {}, { hostNetwork: true }), CIDR, () => []),
      '127.0.0.1',
    )
  })
  it('come to an end', () => {
    const others = Array.from({ length: 253 }, (_, i) => aPod(`o${i}`, { podIP: `127.64.64.${i + 2}` }))
    assert.equal(
      createAddresses().addressOf(aPod('a'), CIDR, () => others),
      undefined,
    )
  })
})

describe('a path of the machine as a volume', () => {
  const cases: [string, string, string | undefined, RegExp | 'fine'][] = [
    ['', '/x', undefined, 'fine'],
    ['Directory', '/x', '\0directory', 'fine'],
    ['Directory', '/x', undefined, /hostPath type check failed: \/x is not a directory/],
    ['Directory', '/x', 'text', /is not a directory/],
    ['DirectoryOrCreate', '/x', undefined, 'fine'],
    ['DirectoryOrCreate', '/x', 'text', /is not a directory/],
    ['File', '/x', 'text', 'fine'],
    ['File', '/x', undefined, /is not a file/],
    ['FileOrCreate', '/x', undefined, 'fine'],
    ['FileOrCreate', '/x', '\0directory', /is not a file/],
    ['Socket', '/x', 'text', /is not a socket file/],
    ['CharDevice', '/x', 'text', /is not a character device/],
    ['BlockDevice', '/x', undefined, /is not a block device/],
  ]
  for (const [type, path, content, expected] of cases)
    it(`${type || 'any'} at ${JSON.stringify(content)}`, async () => {
      const machine = aMachine()
      if (content !== undefined) machine.files.set(path, content)
      const setUp = { podUid: 'u', name: 'v', plan: { kind: 'path' as const, path, type, readOnly: false } }
      if (expected === 'fine') assert.deepEqual(await setUpVolume(machine, setUp), { path, readOnly: false })
      else await assert.rejects(setUpVolume(machine, setUp), expected)
      if (expected === 'fine' && type.endsWith('OrCreate')) assert.ok(machine.files.has(path))
    })

  it('files that would leave their volume are refused', async () => {
    const files = () => [{ path: '../x', content: new Uint8Array(), mode: 0o644 }]
    await assert.rejects(
      setUpVolume(aMachine(), { podUid: 'u', name: 'v', plan: { kind: 'files', version: '1', files } }),
      /not be inside the volume/,
    )
  })

  it('is set up anew when its source is another', () => {
    const key = (version: string) => keyOfSetUp({ podUid: 'u', name: 'v', plan: { kind: 'files', version, files: () => [] } })
    assert.notEqual(key('1'), key('2'))
  })
})

describe('a start', () => {
  const order = (subPath?: string): StartOrder => ({
    spec: {
      podUid: 'u',
      container: 'c',
      attempt: 0,
      namespace: 'n',
      pod: 'p',
      command: ['p'],
      env: {},
      hostname: '',
      tty: false,
      stdin: false,
    },
    mounts: [{ source: '/data/pods/u/volumes/v', path: '/v', readOnly: true, subPath }],
    terminationMessagePath: '/dev/termination-log',
  })
  const context = (signal = new AbortController().signal) => ({ key: '', signal, client: unconnected<Client>('client') })
  const effectsOn = (machine: FakeMachine) =>
    kubeletEffects({ machine, clock: createVirtualClock(0), csi: { publish: () => Promise.reject(new Error('no driver')) } })

  it('mounts what lies inside a volume, and a place for last words', async () => {
    const machine = aMachine()
    await effectsOn(machine).start.run(order('a/b'), context())
    assert.deepEqual(machine.specs[0]?.mounts, [
      { source: '/data/pods/u/volumes/v/a/b', path: '/v', readOnly: true },
      { source: '/data/pods/u/containers/c/termination-0', path: '/dev/termination-log', readOnly: false },
    ])
  })
  it('refuses a path whose links lead out of the volume', async () => {
    const machine = aMachine()
    machine.files.set('/data/pods/u/volumes/v/a', LINK)
    const starting = effectsOn(machine).start.run(order('a'), context())
    await assert.rejects(starting, /^Error: CreateContainerConfigError: failed to prepare subPath "a"/)
    assert.deepEqual(machine.specs, [])
  })
  it('does not happen when nobody wants it any more', async () => {
    const machine = aMachine()
    const abort = new AbortController()
    abort.abort()
    await effectsOn(machine).start.run(order(), context(abort.signal))
    assert.deepEqual(machine.specs, [])
  })
})

describe('the end of a node', () => {
  it('is over when every pod that ran has been reported at rest', async () => {
    const machine = aMachine()
    for (const podUid of ['a', 'b'])
      await machine.start({
        podUid,
        container: 'c',
        attempt: 0,
        namespace: '',
        pod: '',
        command: ['p'],
        env: {},
        mounts: [],
        hostname: '',
        tty: false,
        stdin: false,
      })
    const shutdown = createNodeShutdown(machine)
    let isOver = false
    let begins = 0
    shutdown.onBegin(() => begins++)
    const over = shutdown.begin().then(() => {
      isOver = true
    })
    shutdown.report('a', true)
    shutdown.report('b', false)
    await Promise.resolve()
    assert.deepEqual([isOver, begins, shutdown.hasBegun], [false, 1, true])
    shutdown.report('b', true)
    await over
    await shutdown.begin()
    assert.equal(begins, 1)
  })
  it('is over at once where nothing runs', () => createNodeShutdown(aMachine()).begin())
})
