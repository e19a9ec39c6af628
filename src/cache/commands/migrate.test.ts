import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { buildCacheProgram } from '../../../test/cache/cache-program.ts'
import { seededRandom } from '../../base/random.ts'
import { readTree, writeTree } from '../migrate/testing.ts'
import { withBucket } from '../sources/s3/testing.ts'
import { inTemporaryDirectory } from '../sources/testing.ts'
import { UNFINISHED } from '../sources/unfinished.ts'
import { withServer } from '../sources/web/testing.ts'
import { keptLog, realClock, temporaryDirectory, until } from '../testing.ts'
import { runCommand } from './run.ts'

const { directory, remove } = temporaryDirectory()
let program = ''

before(async () => {
  program = await buildCacheProgram(directory)
})
after(remove)

interface Ran {
  code: number | null
  last: Record<string, unknown>
  errors: string
}

/** The real program; what it prints last, when it has ended. */
function start(env: Record<string, string>, began?: (child: ChildProcess) => void): Promise<Ran> {
  const given = { SLUICE_PORT: '0', POD_IP: '127.0.0.1', SLUICE_ALLOW_PRIVATE_ADDRESSES: 'true', ...env }
  const child = spawn(process.execPath, [program, 'migrate'], { env: given, stdio: ['ignore', 'pipe', 'pipe'] })
  began?.(child)
  const [out, errors]: [string[], string[]] = [[], []]
  child.stdout.on('data', (text) => void out.push(String(text)))
  child.stderr.on('data', (text) => void errors.push(String(text)))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      const line = out.join('').trim().split('\n').at(-1) ?? ''
      resolve({ code, last: line === '' ? {} : (JSON.parse(line) as Record<string, unknown>), errors: errors.join('') })
    })
  })
}

/** The same within this process, where nothing is killed. */
async function runHere(env: Record<string, string>): Promise<Ran> {
  const [out, log]: [string[], ReturnType<typeof keptLog>] = [[], keptLog()]
  const given = { SLUICE_PORT: '0', POD_IP: '127.0.0.1', SLUICE_ALLOW_PRIVATE_ADDRESSES: 'true', ...env }
  const deps = { env: new Map(Object.entries(given)), clock: realClock, random: seededRandom(1), log, signal: new AbortController().signal }
  const code = await runCommand(['migrate'], { ...deps, print: (line) => void out.push(line) }, (line) => void log.lines.push(line))
  return { code, last: JSON.parse(out.at(-1) ?? '{}') as Record<string, unknown>, errors: log.lines.join('\n') }
}

const place = (fields: object): string => JSON.stringify(fields)
const local = (at: string, subPath?: string): string =>
  place({ uri: `local://${at}`, path: at, ...(subPath === undefined ? {} : { subPath }) })

describe('migrate', () => {
  const KILLS = 6
  const COPIERS = 3
  /** Each ninth reading is one kill, also when no file is read again. */
  const FILES = 9 * KILLS

  it('killed again and again, shows nothing half-written, and reads at most one file again for each kill and copier', () =>
    inTemporaryDirectory(async (to) => {
      const files = Object.fromEntries(
        Array.from({ length: FILES }, (_, i) => [`d${i % 4}-f${i}`, Buffer.alloc(50_000 + i, `${i} `).toString()]),
      )
      const reads: string[] = []
      let [killed, running]: [number, ChildProcess | undefined] = [0, undefined]
      const half: ServerResponse[] = []
      await withServer(
        ({ method, url = '' }, response) => {
          const name = url.slice(1)
          const content = files[name]
          if (name === '')
            return void response.writeHead(200, { 'content-type': 'text/html' }).end(
              Object.keys(files)
                .map((file) => `<a href="${file}">`)
                .join(''),
            )
          if (content === undefined) return void response.writeHead(404).end()
          const headers = { 'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT', 'content-length': content.length }
          if (method === 'HEAD') return void response.writeHead(200, headers).end()
          reads.push(name)
          response.writeHead(200, headers)
          // In the middle of a file, another one each time.
          if (killed < KILLS && reads.length % 9 === 8) {
            response.write(content.slice(0, 20_000))
            half.push(response)
            killed++
            running?.kill('SIGKILL')
          } else response.end(content)
        },
        async ({ url }) => {
          const env = {
            SLUICE_MIGRATE_FROM: place({ uri: url.href }),
            SLUICE_MIGRATE_TO: local(to),
            SLUICE_MIGRATE_PARALLELISM: String(COPIERS),
          }
          let ran: Ran | undefined
          for (let attempt = 0; attempt <= KILLS && ran?.code !== 0; attempt++) {
            ran = await start(env, (child) => {
              running = child
            })
            for (const [name, content] of Object.entries(readTree(to)))
              if (!name.startsWith(UNFINISHED)) assert.ok(content === files[name], `${name} is whole`)
          }
          assert.deepEqual([killed, ran?.code, ran?.last.result], [KILLS, 0, 'complete'], ran?.errors)
          assert.deepEqual(readTree(to), files)
          assert.ok(reads.length - Object.keys(files).length <= KILLS * COPIERS, `${reads.length} reads`)
          assert.deepEqual(
            readdirSync(to).filter((name) => name.startsWith('.')),
            [],
          )
        },
      )
    }))

  it('serves its progress while it copies, and leaves its last line for the pod', () =>
    inTemporaryDirectory(async (to) => {
      const waiting: ServerResponse[] = []
      await withServer(
        ({ method }, response) => {
          response.writeHead(200, { etag: '"e"', 'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT', 'content-length': 6 })
          if (method === 'HEAD') return void response.end()
          response.write('abc')
          waiting.push(response)
        },
        async ({ url }) => {
          writeTree(to, { message: 'to be overwritten' })
          let child: ChildProcess | undefined
          let log = ''
          const running = start(
            {
              SLUICE_MIGRATE_FROM: place({ uri: `${url.href}file` }),
              SLUICE_MIGRATE_TO: local(path.join(to, 'to')),
              SLUICE_TERMINATION_LOG: path.join(to, 'message'),
            },
            (started) => {
              child = started
            },
          )
          child?.stderr?.on('data', (text) => {
            log += String(text)
          })
          const port = await until('it serves', () => /serves its progress.*"port":(\d+)/.exec(log)?.[1])
          await until('it reads', () => waiting.length > 0)
          const progress = (await (await fetch(`http://127.0.0.1:${port}/progress`)).json()) as Record<string, unknown>
          assert.deepEqual(
            [progress.operation, progress.step, progress.bytesTotal, progress.filesTotal, progress.filesDone],
            ['migrate', 'copying', 6, 1, 0],
          )
          for (const response of waiting) response.end('def')
          const { code, last } = await running
          assert.deepEqual([code, last.result, last.bytesDone, last.copied], [0, 'complete', 6, 1])
          assert.match(readFileSync(path.join(to, 'message'), 'utf8'), /^\{"operation":"migrate","result":"complete"/)
        },
      )
    }))

  it('reads credentials from files alone', () =>
    withBucket((bucket) =>
      inTemporaryDirectory(async (root) => {
        const { 'aws.accessKeyId': id = '', 'aws.secretKey': secret = '', ...options } = bucket.options
        writeTree(root, { id, secret, 'from/f': 'content' })
        const encryptOptions = { 'aws.accessKeyId': path.join(root, 'id'), 'aws.secretKey': path.join(root, 'secret') }
        const to = place({ uri: 's3://bucket/to', options, encryptOptions })
        const { code, last } = await runHere({ SLUICE_MIGRATE_FROM: local(root, 'from'), SLUICE_MIGRATE_TO: to })
        assert.deepEqual([code, last.copied], [0, 1], String(last.reason))
        assert.equal(await (await bucket.ask('GET', 'to/f')).text(), 'content')
      }),
    ))

  it('writes a dataset where its mounts lead', () =>
    inTemporaryDirectory(async (root) => {
      writeTree(root, { 'from/f': 'content', 'sources/files/old': 'x' })
      const config = {
        mounts: [
          { name: 'files', mountPoint: 'pvc://claim', path: '/' },
          { name: 'web', mountPoint: 'http://example.com/', path: '/web' },
        ],
      }
      writeTree(root, { 'runtime.json': JSON.stringify(config) })
      const env = (subPath: string) => ({
        SLUICE_MIGRATE_FROM: local(path.join(root, 'from')),
        SLUICE_MIGRATE_TO: place({ uri: `dataset://ns/demo/${subPath}`, subPath }),
        FLUID_RUNTIME_CONFIG_PATH: path.join(root, 'runtime.json'),
        SLUICE_SOURCES_PATH: path.join(root, 'sources'),
        SLUICE_KEY_PATH: path.join(root, 'no-key'),
        SLUICE_MASTER_ADDRESS: '127.0.0.1:1',
      })
      const { code, last, errors } = await runHere(env('new/place'))
      assert.deepEqual([code, last.copied], [0, 1], String(last.reason))
      assert.match(errors, /the master could not be told/)
      assert.deepEqual(readTree(path.join(root, 'sources')), { 'files/new/place/f': 'content', 'files/old': 'x' })
      const refused = await Promise.all(['', 'web', 'web/x'].map((subPath) => runHere(env(subPath))))
      assert.deepEqual(
        refused.map((ran) => ran.code),
        [2, 2, 2],
      )
      assert.match(String(refused[0]?.last.reason), /another mount below it, at \/web/)
      assert.match(String(refused[1]?.last.reason), /cannot be written/)
    }))

  const BAD: [string, Record<string, string>, RegExp][] = [
    ['no source', { SLUICE_MIGRATE_FROM: '' }, /SLUICE_MIGRATE_FROM is missing/],
    ['what is no JSON', { SLUICE_MIGRATE_FROM: '{' }, /SLUICE_MIGRATE_FROM is not JSON/],
    ['an unknown scheme', { SLUICE_MIGRATE_TO: '{"uri":"hdfs://a/b"}' }, /none of dataset:\/\//],
    ['credentials in the address', { SLUICE_MIGRATE_TO: '{"uri":"s3://id:hush@bucket/b"}' }, /must not contain credentials/],
    [
      'a sub path that leads out',
      { SLUICE_MIGRATE_TO: '{"uri":"pvc://a","path":"/tmp","subPath":"a/../../etc"}' },
      /no path of a directory/,
    ],
    ['a path that leads out', { SLUICE_MIGRATE_TO: '{"uri":"pvc://a","path":"/tmp/../etc"}' }, /absolute, without \. and \.\./],
    ['a target that cannot be written', { SLUICE_MIGRATE_TO: '{"uri":"http://127.0.0.1/"}' }, /cannot be written/],
    ['a file of credentials elsewhere', { SLUICE_MIGRATE_TO: '{"uri":"s3://bucket","encryptOptions":{"a":"../x"}}' }, /absolute path/],
    ['no number of copies', { SLUICE_MIGRATE_PARALLELISM: '0' }, /at least 1/],
    ['a flag that is none', { SLUICE_MIGRATE_DELETE: 'yes' }, /true or false/],
  ]
  it('refuses what cannot work, with what to do, and no secret in it', () =>
    inTemporaryDirectory(async (root) => {
      writeTree(root, { 'from/f': '1' })
      const good = { SLUICE_MIGRATE_FROM: local(path.join(root, 'from')), SLUICE_MIGRATE_TO: local(path.join(root, 'to')) }
      for (const [what, env, message] of BAD) {
        const { code, last, errors } = await runHere({ ...good, ...env })
        assert.equal(code, 2, what)
        assert.match(String(last.reason), message, what)
        assert.ok(!`${JSON.stringify(last)}${errors}`.includes('hush'))
      }
      const within = await runHere({ ...good, SLUICE_MIGRATE_TO: local(path.join(root, 'from', 'below')) })
      assert.deepEqual([within.code, /within each other/.test(String(within.last.reason))], [2, true])
      symlinkSync('/', path.join(root, 'from', 'out'))
      const out = await runHere({ ...good, SLUICE_MIGRATE_FROM: local(path.join(root, 'from'), 'out/etc') })
      assert.deepEqual([out.code, /leads out/.test(String(out.last.reason))], [1, true])
      const left = await runHere(good)
      assert.deepEqual([left.code, left.last.result, left.last.leftOut], [3, 'incomplete', 1])
      assert.equal((await runHere({ ...good, SLUICE_MIGRATE_ALLOW_LEFT_OUT: 'true' })).code, 0)
    }))
})
