import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { seededRandom } from '../../base/random.ts'
import { requestIdOf, type VolumeState } from '../../kube/materialised-volume.ts'
import { createBlockClient } from '../http/block-client.ts'
import { createRequester } from '../http/request.ts'
import { keptLog, realClock, temporaryDirectory, until } from '../testing.ts'
import { runClient } from './client.ts'
import { createFigures } from './figures.ts'
import { createLocalBlocks } from './local-blocks.ts'
import { createClientServer } from './server.ts'
import { BLOCK, content, startBench } from './testing.ts'

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))

describe('the figures of a client', () => {
  it('are there from the start, and count what was read, what failed, and volumes as long as they are there', () => {
    const figures = createFigures()
    assert.ok(lines(figures.text()).every((line) => /^sluice_cache_client_[a-z_]+(\{[a-z]+="[a-z]+"\})? 0$/.test(line)))
    const state: VolumeState = {
      ...{ subPath: '/', state: 'filling', doneBytes: 5, totalBytes: 10, doneFiles: 1, totalFiles: 2, generation: 0 },
    }
    const unfollow = figures.follow(() => state)
    figures.read('local', 3)
    figures.read('remote', 4)
    figures.read('remote', 4)
    figures.failed()
    assert.deepEqual(lines(figures.text()), [
      'sluice_cache_client_volumes{state="waiting"} 0',
      'sluice_cache_client_volumes{state="filling"} 1',
      'sluice_cache_client_volumes{state="ready"} 0',
      'sluice_cache_client_files{state="complete"} 1',
      'sluice_cache_client_files{state="wanted"} 2',
      'sluice_cache_client_bytes{state="complete"} 5',
      'sluice_cache_client_bytes{state="wanted"} 10',
      'sluice_cache_client_reads_total{from="local"} 1',
      'sluice_cache_client_reads_total{from="remote"} 2',
      'sluice_cache_client_read_bytes_total{from="local"} 3',
      'sluice_cache_client_read_bytes_total{from="remote"} 8',
      'sluice_cache_client_failures_total 1',
    ])
    unfollow()
    assert.match(figures.text(), /volumes\{state="filling"\} 0\n.*bytes\{state="complete"\} 0\n/s)
  })

  it('are served while a volume fills, beside the probes, and volumes leave them with their requests', async () => {
    const bench = await startBench()
    const { directory, remove } = temporaryDirectory()
    const [figures, log, ending] = [createFigures(), keptLog(), new AbortController()]
    const [requester, blocks] = [createRequester(), createBlockClient({ clock: realClock })]
    const server = createClientServer({ figures, log })
    const origin = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`
    const figureOf = async (name: string): Promise<string | undefined> => {
      const text = await (await fetch(`${origin}/metrics`)).text()
      return lines(text).find((line) => line.startsWith(`sluice_cache_client_${name} `))
    }
    bench.put('/a', content('a', BLOCK + 7))
    const worker = await bench.worker('w')
    let isRefusing = true
    worker.interfere = (response) => {
      if (isRefusing) response.writeHead(404, { 'content-length': 0 }).end()
      return isRefusing
    }
    const file = path.join(directory, 'requests', `${requestIdOf('/')}.json`)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, JSON.stringify({ subPath: '/' }))
    const ended = runClient(
      {
        ...{ directory, master: bench.origin, node: 'here', blockBytes: BLOCK, blocks, requester, clock: realClock, log, figures },
        ...{ local: createLocalBlocks([], { namespace: 'ns', name: 'demo' }), token: async () => 'token', random: seededRandom(1) },
      },
      ending.signal,
    )
    try {
      await until('a failure is counted', () => !figures.text().includes('client_failures_total 0\n'))
      isRefusing = false
      await until('the volume is ready', () => figures.text().includes('client_volumes{state="ready"} 1\n'))
      assert.equal(await figureOf('bytes{state="complete"}'), `sluice_cache_client_bytes{state="complete"} ${BLOCK + 7}`)
      assert.equal(await figureOf('reads_total{from="remote"}'), 'sluice_cache_client_reads_total{from="remote"} 2')
      assert.equal(await figureOf('read_bytes_total{from="remote"}'), `sluice_cache_client_read_bytes_total{from="remote"} ${BLOCK + 7}`)
      for (const probe of ['/healthz', '/readyz']) assert.equal((await fetch(origin + probe)).status, 200)
      assert.equal((await fetch(`${origin}/v1/state`)).status, 404)
    } finally {
      ending.abort()
      await ended
      assert.equal(await figureOf('volumes{state="ready"}'), 'sluice_cache_client_volumes{state="ready"} 0')
      await server.close()
      blocks.close()
      requester.close()
      await bench.close()
      remove()
    }
  })
})
