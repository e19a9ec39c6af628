import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Clock } from '../../base/clock.ts'
import { seededRandom } from '../../base/random.ts'
import { createBlockClient } from '../http/block-client.ts'
import { createRequester } from '../http/request.ts'
import { keptLog, temporaryDirectory, until } from '../testing.ts'
import { createLocalBlocks } from './local-blocks.ts'
import { fillSidecar } from './sidecar.ts'
import { type Bench, BLOCK, content, startBench } from './testing.ts'

/** Pauses are short, and time passes only by them: however busy the machine is, nobody has waited longer than that. */
let nowMs = 0
const clock: Clock = {
  now: () => nowMs,
  after(delayMs, callback) {
    const atMs = nowMs + delayMs
    const timer = setTimeout(() => {
      nowMs = Math.max(nowMs, atMs)
      callback()
    }, delayMs / 200)
    return () => clearTimeout(timer)
  },
}
const log = keptLog()
let bench: Bench
let place: ReturnType<typeof temporaryDirectory>
let ending = new AbortController()

beforeEach(async () => {
  nowMs = 0
  bench = await startBench()
  place = temporaryDirectory()
  ending = new AbortController()
})
afterEach(async () => {
  ending.abort()
  await bench.close()
  place.remove()
})

const at = (...parts: string[]): string => path.join(place.directory, ...parts)

async function run({ subPath = '/', token = 'token', freeBytes = 1e12 } = {}): Promise<'complete' | 'ended'> {
  const requester = createRequester()
  const blocks = createBlockClient({ clock, connectMs: 100_000 })
  try {
    return await fillSidecar(
      {
        ...{ directory: at('files'), state: at('state'), subPath, master: bench.origin, node: 'here', blockBytes: BLOCK },
        ...{ local: createLocalBlocks([], { namespace: 'ns', name: 'demo' }), blocks, requester, clock, random: seededRandom(1), log },
        token: async () => token,
        freeBytes: () => freeBytes,
      },
      ending.signal,
    )
  } finally {
    blocks.close()
    requester.close()
  }
}

const files = (directory = at('files')): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .sort()

describe('the sidecar', () => {
  it('completes the files beside which nothing else is left', async () => {
    const large = content('large', 3 * BLOCK + 17)
    for (const [name, bytes] of [
      ['/a/one', content('one', 10)],
      ['/a/empty', Buffer.alloc(0)],
      ['/b/large', large],
    ] as const)
      bench.put(name, bytes)
    await bench.worker('w')
    mkdirSync(at('files'))
    assert.equal(await run(), 'complete')
    assert.deepEqual(files(), ['a/empty', 'a/one', 'b/large'])
    assert.ok(readFileSync(at('files', 'b', 'large')).equals(large))
    assert.deepEqual(readdirSync(at('files')).sort(), ['a', 'b'])
    assert.equal(statSync(at('files', 'a', 'one')).mode & 0o777, 0o444)
    assert.equal(statSync(at('files')).mode & 0o200, 0o200, "the volume's own directory is the node's")
  })

  it('completes only its sub path', async () => {
    bench.put('/a/one', content('one', 10))
    bench.put('/b/two', content('two', 10))
    await bench.worker('w')
    assert.equal(await run({ subPath: '/b' }), 'complete')
    assert.deepEqual(files(), ['two'])
  })

  it('is complete at once when it is started again, also when nobody answers', async () => {
    bench.put('/a', content('a', 10))
    await bench.worker('w')
    assert.equal(await run(), 'complete')
    await bench.close()
    assert.equal(await run(), 'complete')
    bench = await startBench()
  })

  it('goes on after it was killed, and fetches again what is not as it was recorded', async () => {
    bench.put('/a', content('a', 10))
    bench.put('/b', content('b', 10))
    const worker = await bench.worker('w')
    assert.equal(await run(), 'complete')
    rmSync(at('files', 'a'), { force: true })
    mkdirSync(at('files', '.sluice-partial'))
    writeFileSync(at('files', '.sluice-partial', 'torn'), 'torn')
    worker.asked.length = 0
    assert.equal(await run(), 'complete')
    assert.deepEqual(readdirSync(at('files')).sort(), ['a', 'b'])
    assert.equal(worker.asked.length, 1)
  })

  it('keeps a file of the dataset that has the name of its own directory', async () => {
    bench.put('/.sluice-partial/x', content('x', 10))
    bench.put('/y', content('y', BLOCK))
    await bench.worker('w')
    assert.equal(await run(), 'complete')
    assert.equal(await run(), 'complete')
    assert.deepEqual(files(), ['.sluice-partial/x', 'y'])
  })

  it('takes the new version of a file that changes while it fills', async () => {
    bench.put('/a', content('a', BLOCK))
    const worker = await bench.worker('w')
    bench.changeSource('/a', content('new', BLOCK))
    const running = run()
    await until('it was refused', () => worker.asked.length > 0)
    bench.put('/a', content('new', BLOCK))
    assert.equal(await running, 'complete')
    assert.ok(readFileSync(at('files', 'a')).equals(content('new', BLOCK)))
  })

  it('waits for the end of the listing', async () => {
    bench.put('/a', content('a', 10))
    await bench.worker('w')
    bench.inventory.setComplete(false)
    const running = run()
    await until('it has asked', () => existsSync(at('files')))
    bench.inventory.setComplete(true)
    assert.equal(await running, 'complete')
  })

  it('gives up with the reason: refused', async () => {
    bench.put('/a', content('a', 10))
    await assert.rejects(run({ token: 'of-another' }), /bad/)
  })

  it('gives up with the reason: refused while it fills, when its ticket has ended', async () => {
    bench.put('/a', content('a', 20 * BLOCK))
    const worker = await bench.worker('w')
    worker.interfere = () => {
      bench.withdraw()
      // Later than the end of any ticket that was given.
      nowMs = Date.UTC(3000, 0)
      return false
    }
    await assert.rejects(run(), /bad/)
    assert.ok(worker.asked.length > 0)
    assert.deepEqual(files(), [])
  })

  it('gives up with the reason: no room', async () => {
    bench.put('/a', content('a', 10 * BLOCK))
    await bench.worker('w')
    await assert.rejects(run({ freeBytes: BLOCK }), /needs 10\.00MiB, but the node's disk has .* left: make room there/)
    assert.deepEqual(files(), [])
  })

  it('gives up with the reason: workers that never have a block', async () => {
    bench.put('/a', content('a', 10))
    bench.put('/b', content('b', 10))
    const worker = await bench.worker('w')
    worker.interfere = (response) => {
      response.writeHead(500, { 'content-length': 0 }).end()
      return true
    }
    await assert.rejects(run(), /500|block/)
  })

  it('ends when it is asked to, without a word', async () => {
    bench.put('/a', content('a', 10))
    const running = run()
    await until('it has begun', () => existsSync(at('files')))
    ending.abort()
    assert.equal(await running, 'ended')
  })
})
