import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { crc32 } from 'node:zlib'
import type { Clock } from '../../base/clock.ts'
import { seededRandom } from '../../base/random.ts'
import { requestIdOf, type VolumeState } from '../../kube/materialised-volume.ts'
import { blockFilePath } from '../blocks/block-path.ts'
import { writeTrailer } from '../blocks/trailer.ts'
import { createBlockClient } from '../http/block-client.ts'
import { createRequester } from '../http/request.ts'
import { blockName } from '../protocol/block.ts'
import { keptLog, temporaryDirectory, until } from '../testing.ts'
import { runClient } from './client.ts'
import { createLocalBlocks } from './local-blocks.ts'
import { type Bench, BLOCK, content, startBench } from './testing.ts'

/** Pauses are short, and now and then a minute passes between two looks. */
let skippedMs = 0
const clock: Clock = {
  now: () => Date.now() + skippedMs,
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs > 20_000 ? delayMs : delayMs / 50)
    return () => clearTimeout(timer)
  },
}
const random = seededRandom(1)
const log = keptLog()
let bench: Bench
let place: ReturnType<typeof temporaryDirectory>
let directory = ''
let freeBytes = 1e12
let stops: (() => Promise<void>)[] = []

beforeEach(async () => {
  bench = await startBench()
  place = temporaryDirectory()
  directory = path.join(place.directory, 'runtime')
  freeBytes = 1e12
  stops = []
})
afterEach(async () => {
  for (const stop of stops) await stop()
  await bench.close()
  place.remove()
})

function start(quotaBytes?: number): () => Promise<void> {
  const stopper = new AbortController()
  const requester = createRequester()
  const blocks = createBlockClient({ clock, connectMs: 500 })
  const local = createLocalBlocks([path.join(place.directory, 'tier')], { namespace: 'ns', name: 'demo' })
  const options = {
    directory,
    master: bench.origin,
    node: 'here',
    blockBytes: BLOCK,
    quotaBytes,
    local,
    blocks,
    requester,
    clock,
    random,
    log,
  }
  const ended = runClient({ ...options, token: async () => 'token', freeBytes: () => freeBytes }, stopper.signal)
  const stop = async () => {
    stopper.abort()
    await ended
    blocks.close()
    requester.close()
  }
  stops.push(stop)
  return stop
}

function request(subPath: string): string {
  const id = requestIdOf(subPath)
  mkdirSync(path.join(directory, 'requests'), { recursive: true })
  writeFileSync(path.join(directory, 'requests', `${id}.json`), JSON.stringify({ subPath }))
  return id
}
function stateOf(id: string): VolumeState | undefined {
  const file = path.join(directory, 'states', `${id}.json`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as VolumeState) : undefined
}
const reaches = (id: string, check: (state: VolumeState) => boolean): Promise<VolumeState> =>
  until(`a state; it is ${JSON.stringify(stateOf(id))}`, () => {
    const state = stateOf(id)
    return state !== undefined && check(state) && state
  })
const isReady = (number: number) => (state: VolumeState) =>
  state.state === 'ready' && state.generation === number && state.message === undefined
const read = (state: VolumeState, file: string) => readFileSync(path.join(directory, state.directory ?? '', file))
const filesBelow = (folder: string) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)))
    .sort()

describe('the client', () => {
  it('completes a tree from several workers, every byte right, read-only', async () => {
    await Promise.all([bench.worker('w0'), bench.worker('w1'), bench.worker('w2')])
    const files = new Map<string, Buffer>([
      ['/images/empty', Buffer.alloc(0)],
      ['/images/large', content('large', 5 * BLOCK + 123)],
    ])
    for (let i = 0; i < 60; i++) files.set(`/images/d${i % 7}/e/f${i}`, content(`f${i}`, i * 97))
    files.set('/images/exact', content('exact', 2 * BLOCK))
    for (const [name, bytes] of files) bench.put(name, bytes)
    bench.put('/other/secret', content('s', 10))
    const id = request('/images')
    start()
    const state = await reaches(id, isReady(1))
    assert.equal(state.directory, `generations/${id}/1`)
    assert.deepEqual([state.doneFiles, state.totalFiles, state.doneBytes], [files.size, files.size, state.totalBytes])
    assert.deepEqual(
      filesBelow(path.join(directory, state.directory)),
      [...files.keys()].map((name) => name.slice('/images/'.length)).sort(),
    )
    for (const [name, bytes] of files) {
      const file = path.join(directory, state.directory, name.slice('/images/'.length))
      assert.ok(readFileSync(file).equals(bytes), name)
      const { mode, mtimeMs } = statSync(file)
      assert.deepEqual([mode & 0o777, Math.floor(mtimeMs)], [0o444, bench.inventory.byPath(name)?.mtimeMs])
    }
    assert.equal(statSync(path.join(directory, state.directory, 'd1')).mode & 0o777, 0o555)
    assert.deepEqual(readdirSync(path.join(directory, 'partial')), [])
  })

  it('makes a new generation of a change, shares what is the same, and removes what nobody uses', async () => {
    await bench.worker('w0')
    bench.put('/same', content('same', 1000))
    bench.put('/changes', content('old', 1000))
    const id = request('/')
    start()
    const first = await reaches(id, isReady(1))
    const users = path.join(directory, 'users', id, '1')
    mkdirSync(users, { recursive: true })
    writeFileSync(path.join(users, 'pod'), '')
    bench.put('/changes', content('new', 2000))
    bench.inventory.remove('/nothing')
    const second = await reaches(id, isReady(2))
    assert.ok(read(first, 'changes').equals(content('old', 1000)), 'a running pod keeps its generation')
    assert.ok(read(second, 'changes').equals(content('new', 2000)))
    const inode = ({ directory: at = '' }: VolumeState) => statSync(path.join(directory, at, 'same')).ino
    assert.equal(inode(first), inode(second))
    bench.put('/third', content('third', 10))
    const third = await reaches(id, isReady(3))
    skippedMs += 61_000
    bench.put('/fourth', content('fourth', 10))
    await reaches(id, isReady(4))
    await until('the second is gone', () => !existsSync(path.join(directory, second.directory ?? '')))
    assert.ok(existsSync(path.join(directory, first.directory ?? '')), 'the first is in use')
    assert.ok(existsSync(path.join(directory, third.directory ?? '')), 'a pod may be about to use the third')
    rmSync(path.join(directory, 'requests', `${id}.json`))
    await until('only what is in use is left', () => readdirSync(path.join(directory, 'generations', id)).join() === '1')
    rmSync(path.join(users, 'pod'))
    await until('nothing is left', () => !existsSync(path.join(directory, 'generations', id)))
    assert.deepEqual([stateOf(id), readdirSync(path.join(directory, 'records'))], [undefined, []])
  })

  it('gives back a generation that it was killed in removing, if a pod has come to use it', async () => {
    await bench.worker('w0')
    bench.put('/a', content('a', 100))
    const id = request('/')
    const stop = start()
    const state = await reaches(id, isReady(1))
    await stop()
    const [kept, other] = [path.join(directory, state.directory ?? ''), requestIdOf('/other')]
    const away = (name: string) => path.join(directory, 'partial', name)
    chmodSync(kept, 0o755)
    mkdirSync(away(''))
    renameSync(kept, away(`gone-${id}-1`))
    mkdirSync(away(`gone-${other}-1`))
    mkdirSync(path.join(directory, 'users', id, '1'), { recursive: true })
    writeFileSync(path.join(directory, 'users', id, '1', 'pod'), '')
    mkdirSync(path.join(directory, 'users', other, '1'), { recursive: true })
    writeFileSync(path.join(directory, 'users', other, '1', 'pod.new'), 'its writer was killed')
    start()
    await until('it is back', () => existsSync(path.join(kept, 'a')))
    assert.ok(read(state, 'a').equals(content('a', 100)))
    await until('the other is gone', () => !existsSync(away(`gone-${other}-1`)))
  })

  it('says how far it is also when a source pauses', async () => {
    const worker = await bench.worker('w0')
    bench.put('/big', content('one', 3 * BLOCK))
    worker.interfere = (_, target) => target.endsWith('/2')
    const id = request('/')
    start()
    const { doneFiles, totalBytes } = await reaches(id, ({ state, doneBytes }) => state === 'filling' && doneBytes === 2 * BLOCK)
    assert.deepEqual([doneFiles, totalBytes], [0, 3 * BLOCK])
  })

  it('never mixes versions: when the source changed it waits for the new list', async () => {
    const worker = await bench.worker('w0')
    bench.put('/big', content('one', 3 * BLOCK))
    const later = content('two', 3 * BLOCK + 5)
    worker.interfere = (_, target) => {
      if (target.endsWith('/2')) bench.changeSource('/big', later)
      return false
    }
    const id = request('/')
    start()
    assert.match((await reaches(id, ({ state }) => state === 'waiting')).message ?? '', /changed at its source/)
    worker.interfere = undefined
    bench.put('/big', later)
    assert.ok(read(await reaches(id, isReady(1)), 'big').equals(later))
  })

  it('goes on after a restart with what was finished, and takes nothing that was damaged', async () => {
    const worker = await bench.worker('w0')
    for (let i = 0; i < 20; i++) bench.put(`/f${i}`, content(`f${i}`, 100 + i))
    bench.put('/z', content('z', 4 * BLOCK))
    const blocked = bench.inventory.byPath('/z')?.fileId ?? ''
    worker.interfere = (response, target) =>
      target.includes(blocked) && target.endsWith('/3') && response.writeHead(503, { 'content-length': 0 }).end() !== undefined
    const id = request('/')
    const stop = start()
    await reaches(id, ({ state, message }) => state === 'waiting' && message !== undefined)
    await stop()
    assert.ok(!existsSync(path.join(directory, 'partial')), 'one that is asked to end leaves nothing that is partial')
    mkdirSync(path.join(directory, 'partial'))
    writeFileSync(path.join(directory, 'partial', 'left-behind'), 'x')
    const damaged = path.join(directory, 'generations', id, '1', 'f3')
    rmSync(damaged)
    symlinkSync('/etc/passwd', damaged)
    worker.interfere = undefined
    worker.asked.length = 0
    start()
    const state = await reaches(id, isReady(1))
    assert.equal(new Set(worker.asked).size, 5, 'four blocks of z, and the damaged file')
    for (let i = 0; i < 20; i++) assert.ok(read(state, `f${i}`).equals(content(`f${i}`, 100 + i)))
    assert.ok(statSync(damaged).isFile() && !readdirSync(path.join(directory, 'partial')).includes('left-behind'))
  })

  it('asks the next when a worker is dead, damages blocks or cuts answers', async () => {
    const workers = await Promise.all(['w0', 'w1', 'w2', 'w3'].map((name) => bench.worker(name)))
    for (let i = 0; i < 40; i++) bench.put(`/f${i}`, content(`f${i}`, 5000 + i))
    workers[0]?.close()
    if (workers[1])
      workers[1].interfere = (response) =>
        response.writeHead(200, { 'content-length': 5000, 'x-sluice-crc32': '00000000' }).end(Buffer.alloc(5000)) !== undefined
    if (workers[2])
      workers[2].interfere = (response) => {
        response.writeHead(200, { 'content-length': 5000 }).write('x')
        setImmediate(() => response.destroy())
        return true
      }
    const id = request('/')
    start()
    const state = await reaches(id, isReady(1))
    for (let i = 0; i < 40; i++) assert.ok(read(state, `f${i}`).equals(content(`f${i}`, 5000 + i)))
  })

  it('reads blocks of its own node from their files, and only whole ones', async () => {
    const worker = await bench.worker('w0', 'here')
    const bytes = content('local', BLOCK + 10)
    bench.put('/local', bytes)
    const entry = bench.inventory.byPath('/local')
    assert.ok(entry !== undefined)
    for (const [index, isGood] of [
      [0, true],
      [1, false],
    ] as const) {
      const key = { ...entry, index }
      const file = blockFilePath(path.join(place.directory, 'tier'), { namespace: 'ns', name: 'demo' }, key)
      const block = bytes.subarray(index * BLOCK, (index + 1) * BLOCK)
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, Buffer.concat([block, writeTrailer(blockName(key), { length: block.length, crc: isGood ? crc32(block) : 1 })]))
    }
    const id = request('/local')
    start()
    assert.ok(read(await reaches(id, isReady(1)), 'local').equals(bytes))
    await until('the worker was told', () => worker.asked.includes('/v1/uses'))
    assert.deepEqual(
      worker.asked.filter((target) => target.startsWith('/v1/blocks')).map((target) => target.at(-1)),
      ['1'],
    )
  })

  it('waits for room, for workers and for the list, says so, and goes on by itself', async () => {
    bench.put('/f', content('f', 5000))
    bench.inventory.setComplete(false)
    freeBytes = 0
    const id = request('/')
    start()
    await reaches(id, ({ message }) => message?.includes('still being listed') === true)
    bench.inventory.setComplete(true)
    await reaches(id, ({ state, message }) => state === 'waiting' && message?.includes("the node's disk has 0.00B left") === true)
    freeBytes = 1e12
    await reaches(id, ({ state, message }) => state === 'waiting' && message === 'no worker serves')
    await bench.worker('w0')
    await reaches(id, isReady(1))
  })

  it('keeps to a quota of the node', async () => {
    await bench.worker('w0')
    bench.put('/f', content('f', 50_000))
    const id = request('/')
    start(10_000)
    await reaches(id, ({ message }) => message?.includes('option nodeQuota') === true)
  })

  it('leaves out files that directories hide, and requests that are none', async () => {
    await bench.worker('w0')
    bench.put('/a', content('file', 10))
    bench.put('/a/b', content('below', 10))
    mkdirSync(path.join(directory, 'requests'), { recursive: true })
    for (const [name, text] of [
      ['0123456789abcdef.json', '{"subPath":"/a"}'],
      ['x.json', '{}'],
      [`${requestIdOf('/../x')}.json`, '{"subPath":"/../x"}'],
      [`${requestIdOf('/b')}.json`, '{'],
    ])
      writeFileSync(path.join(directory, 'requests', name ?? ''), text ?? '')
    const id = request('/')
    start()
    const state = await reaches(id, ({ state: is }) => is === 'ready')
    assert.match(state.message ?? '', /1 files are left out/)
    assert.ok(read(state, 'a/b').equals(content('below', 10)))
    assert.deepEqual(readdirSync(path.join(directory, 'generations')), [id])
  })
})
