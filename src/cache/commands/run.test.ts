import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import type { LogFields } from '../../base/log.ts'
import { seededRandom } from '../../base/random.ts'
import { requestIdOf, type VolumeState } from '../../kube/materialised-volume.ts'
import { bytesText } from '../master/report.ts'
import { realClock, temporaryDirectory, until } from '../testing.ts'
import { runCommand } from './run.ts'

const { directory, remove } = temporaryDirectory()
const at = (...parts: string[]) => path.join(directory, ...parts)
const logged: { message: string; fields?: LogFields }[] = []
const log = { write: (_: string, message: string, fields?: LogFields) => void logged.push({ message, fields }) }
const ending = new AbortController()
const running: Promise<number>[] = []
let runs = 0

async function run(args: string[], env: Record<string, string> = {}): Promise<{ code: number; printed: string[]; complaints: string[] }> {
  const [printed, complaints]: [string[], string[]] = [[], []]
  const given = {
    FLUID_DATASET_NAMESPACE: 'ns',
    FLUID_DATASET_NAME: 'demo',
    FLUID_RUNTIME_CONFIG_PATH: at('runtime.json'),
    FLUID_RUNTIME_MOUNT_PATH: at('node'),
    SLUICE_KEY_PATH: at('no-key'),
    SLUICE_STATE_PATH: at('state'),
    SLUICE_SOURCES_PATH: at('sources'),
    SLUICE_PORT: '0',
    POD_IP: '127.0.0.1',
    NODE_NAME: 'n1',
    ...env,
  }
  const deps = { env: new Map(Object.entries(given)), clock: realClock, random: seededRandom(++runs), log, signal: ending.signal }
  const code = await runCommand(args, { ...deps, print: (line) => void printed.push(line) }, (line) => void complaints.push(line))
  return { code, printed, complaints }
}
const background = (args: string[], env: Record<string, string>) => void running.push(run(args, env).then(({ code }) => code))
const portOf = (message: string) => until(message, () => logged.find((line) => line.message === message)?.fields?.port)

after(async () => {
  ending.abort()
  await Promise.all(running)
  remove()
})

describe('the commands', () => {
  it('say how they are used', async () => {
    for (const args of [[], ['x'], ['master', 'x'], ['decommission'], ['decommission', 'a', 'b'], ['__proto__']]) {
      const { code, complaints } = await run(args)
      assert.equal(code, 2, args.join(' '))
      assert.match(
        complaints.join(),
        /^usage: sluice cache master \| worker \| client \| mount-ufs \| report-summary \| preload \| clear \| load \| migrate \| backup \| restore \| decommission <pod> \| recommission <pod>$/,
      )
    }
  })

  it('say what is wrong with the configuration', async () => {
    writeFileSync(at('bad.json'), '{"mounts":5}')
    assert.equal((await run(['master'], { FLUID_RUNTIME_CONFIG_PATH: at('bad.json') })).code, 1)
    assert.match(String(logged.at(-1)?.fields?.error), /mounts must be a list/)
    assert.equal((await run(['client'], { FLUID_RUNTIME_CONFIG_PATH: at('nowhere.json') })).code, 1)
    assert.match(String(logged.at(-1)?.fields?.error), /nowhere\.json cannot be read/)
  })

  it('are a cache together: source, master, workers, a volume, a report, a worker that leaves', async () => {
    const files = new Map(Array.from({ length: 30 }, (_, i) => [`d${i % 3}/f${i}`, Buffer.alloc(i * 1000, `content ${i}`)]))
    files.set('large', Buffer.alloc(3 * 1024 * 1024 + 17, 'large'))
    for (const [name, bytes] of files) {
      mkdirSync(path.dirname(at('sources', 'images', name)), { recursive: true })
      writeFileSync(at('sources', 'images', name), bytes)
    }
    const tiers = (name: string) => [{ mountPaths: [at('tiers', name)], mediumType: 'SSD', quotas: ['1Gi'] }]
    const configure = (name: string) => {
      const config = {
        mounts: [{ name: 'images', mountPoint: 'local:///images' }],
        master: {},
        worker: { options: { blockSize: '1Mi' }, tieredStoreLevels: tiers(name) },
        client: {},
      }
      writeFileSync(at(`${name}.json`), JSON.stringify(config))
      mkdirSync(at('tiers', name), { recursive: true })
      return at(`${name}.json`)
    }
    for (const name of ['runtime', 'w0', 'w1']) configure(name)
    background(['master'], {})
    const SLUICE_MASTER_ADDRESS = `127.0.0.1:${await portOf('the master serves')}`
    const { code, printed } = await run(['mount-ufs'], { SLUICE_MASTER_ADDRESS })
    assert.deepEqual([code, printed], [0, ['{"mounted":["/images"]}']])
    for (const POD_NAME of ['w0', 'w1'])
      background(['worker'], { SLUICE_MASTER_ADDRESS, POD_NAME, FLUID_RUNTIME_CONFIG_PATH: at(`${POD_NAME}.json`) })
    background(['client'], { SLUICE_MASTER_ADDRESS })
    const figures = `http://127.0.0.1:${await portOf('the client serves its figures')}`
    assert.equal((await fetch(`${figures}/readyz`)).status, 200)
    const id = requestIdOf('/images')
    mkdirSync(at('node', 'requests'), { recursive: true })
    writeFileSync(at('node', 'requests', `${id}.json`), '{"subPath":"/images"}')
    const stateOf = (): VolumeState | undefined => {
      try {
        return JSON.parse(readFileSync(at('node', 'states', `${id}.json`), 'utf8')) as VolumeState
      } catch {
        return undefined
      }
    }
    const state = await until('the volume is ready', () => stateOf()?.state === 'ready' && stateOf())
    for (const [name, bytes] of files) assert.ok(readFileSync(at('node', state.directory ?? '', name)).equals(bytes), name)
    assert.match(await (await fetch(`${figures}/metrics`)).text(), /^sluice_cache_client_volumes\{state="ready"\} 1$/m)
    const loaded = await run(['preload'], { SLUICE_MASTER_ADDRESS })
    const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0)
    assert.deepEqual([loaded.code, loaded.printed.at(-1)], [0, JSON.stringify({ state: 'done', loaded: bytes, noSpace: 0, failed: 0 })])
    await assertOperations(SLUICE_MASTER_ADDRESS, { files, bytes })
    writeFileSync(at('w1.json'), readFileSync(at('w1.json'), 'utf8').replace('1Gi', '512Mi'))
    const capacity = async () => {
      const { printed: report } = await run(['report-summary'], { SLUICE_MASTER_ADDRESS })
      return (JSON.parse(report.join()) as { cacheCapacity: string }).cacheCapacity
    }
    for (let shown = await capacity(); shown !== '1.50GiB'; shown = await capacity()) assert.equal(shown, '2.00GiB')
    const left = await run(['decommission', 'w0'], { SLUICE_MASTER_ADDRESS })
    assert.equal(left.code, 0)
    assert.match(left.printed.at(-1) ?? '', /^\{"state":"gone","moved":\d+,"dropped":\d+,"left":0\}$/)
    const back = await run(['recommission', 'w0'], { SLUICE_MASTER_ADDRESS })
    assert.deepEqual([back.code, back.printed], [0, ['{"state":"serving"}']])
    const lines = async () => {
      const { printed: report } = await run(['report-summary'], { SLUICE_MASTER_ADDRESS })
      return (JSON.parse(report.join()) as { workers: { pod: string; state: string }[] }).workers
    }
    assert.deepEqual(
      (await lines()).map(({ pod, state: is, ...rest }) => [pod, is, Object.keys(rest).sort().join()]),
      ['w0', 'w1'].map((name) => [name, 'serving', 'cachedBytes,capacityBytes,node,servedBytes,sourceBytes']),
    )
    assert.equal((await run(['decommission', 'w0'], { SLUICE_MASTER_ADDRESS })).code, 0)
    const nobody = await run(['decommission', 'nobody'], { SLUICE_MASTER_ADDRESS })
    assert.deepEqual([nobody.code, nobody.complaints], [1, ['there is no worker nobody, or it has not been heard of for a while']])
    const config = JSON.parse(readFileSync(at('runtime.json'), 'utf8')) as { mounts: object[] }
    config.mounts.push({ name: 'none', mountPoint: 'local:///none' })
    writeFileSync(at('runtime.json'), JSON.stringify(config))
    const partly = await run(['mount-ufs'], { SLUICE_MASTER_ADDRESS })
    assert.deepEqual([partly.code, partly.printed], [1, ['{"mounted":["/images"]}']])
    assert.match(partly.complaints.join(), /^\/none: "local:\/\/\/none" cannot be read \(ENOENT\): check that/)
    assert.match((await run(['report-summary'], { SLUICE_MASTER_ADDRESS })).printed.join(), /"problem":"\/none: /)
    config.mounts.pop()
    writeFileSync(at('runtime.json'), JSON.stringify(config))
    assert.equal((await run(['mount-ufs'], { SLUICE_MASTER_ADDRESS })).code, 0)
    const summary = await run(['report-summary'], { SLUICE_MASTER_ADDRESS })
    const { cached, cacheCapacity, ufsTotal, fileNum, workers: _, ...ratios } = JSON.parse(summary.printed.join()) as Record<string, string>
    assert.match([cached, cacheCapacity, ufsTotal, fileNum].join(), /^[\d.]+[KM]?i?B,512\.00MiB,3\.[\d]+MiB,31$/)
    assert.deepEqual(Object.keys(ratios).sort(), [
      ...['cacheHitRatio', 'cacheThroughputRatio', 'cachedPercentage', 'localHitRatio', 'localThroughputRatio'],
      ...['remoteHitRatio', 'remoteThroughputRatio'],
    ])
    for (const [name, ratio] of Object.entries(ratios)) assert.match(ratio, /^[\d.]+%$/, name)
    const sidecar = {
      SLUICE_MASTER_ADDRESS,
      SLUICE_SIDECAR_SUB_PATH: '/images/d0',
      SLUICE_SIDECAR_STATE_PATH: at('pod', 'state'),
      FLUID_RUNTIME_MOUNT_PATH: at('pod', 'files'),
    }
    assert.equal((await run(['client'], { ...sidecar, SLUICE_SIDECAR_ENDS: 'true' })).code, 0)
    assert.ok(existsSync(at('pod', 'state', 'ready')))
    for (const [name, bytes] of files)
      if (name.startsWith('d0/')) assert.ok(readFileSync(at('pod', 'files', name.slice(3))).equals(bytes), name)
    background(['client'], sidecar)
    await until('the sidecar stays', () => logged.filter(({ message }) => message === 'the sidecar is ready').length === 2)
    const climbing = await run(['client'], { ...sidecar, SLUICE_SIDECAR_SUB_PATH: '/../x' })
    assert.deepEqual([climbing.code, /SLUICE_SIDECAR_SUB_PATH must be absolute/.test(String(logged.at(-1)?.fields?.error))], [1, true])
    ending.abort()
    assert.deepEqual(await Promise.all(running), [0, 0, 0, 0, 0])
  })

  interface Loaded {
    files: ReadonlyMap<string, Buffer>
    bytes: number
  }

  async function assertOperations(SLUICE_MASTER_ADDRESS: string, { files, bytes }: Loaded): Promise<void> {
    const ended = async (args: string[], env: Record<string, string>) => {
      const { code, printed, complaints } = await run(args, { SLUICE_MASTER_ADDRESS, ...env })
      assert.deepEqual(complaints, [])
      return [code, JSON.parse(printed.at(-1) ?? '') as Record<string, unknown>] as const
    }
    const [all, some, bad] = await Promise.all([
      ended(['load'], { FLUID_DATALOAD_METADATA: 'true', SLUICE_LOAD_CONCURRENCY: '8' }),
      ended(['load'], { FLUID_DATALOAD_DATA_PATH: '/images/d0:/images/none:/images/d*/f1', FLUID_DATALOAD_PATH_REPLICAS: '2:1:1' }),
      ended(['load'], { SLUICE_LOAD_TARGETS: '[{"path":"images"}]' }),
    ])
    assert.deepEqual([all[0], all[1].result, all[1].loadedBytes, all[1].filesDone], [0, 'complete', bytes, files.size])
    assert.deepEqual([some[0], some[1].result, some[1].missing], [3, 'incomplete', ['/images/none']])
    assert.equal(some[1].filesTotal, 11)
    assert.deepEqual([bad[0], bad[1].result], [2, 'refused'])
    const backedUp = await ended(['backup'], { SLUICE_BACKUP_PATH: at('backup') })
    assert.deepEqual([backedUp[0], backedUp[1].files, backedUp[1].bytes], [0, files.size, bytes], String(backedUp[1].reason))
    assert.equal(
      readFileSync(at('backup', 'demo-ns.yaml'), 'utf8'),
      `dataset: demo\nnamespace: ns\nufstotal: ${bytesText(bytes)}\nfilenum: ${files.size}\n`,
    )
    const restored = await ended(['restore'], { SLUICE_BACKUP_PATH: at('backup'), SLUICE_STATE_PATH: at('restored') })
    assert.deepEqual([restored[0], restored[1].files], [0, files.size])
    writeFileSync(at('backup', 'metadata-backup-demo-ns.gz'), 'damaged')
    const damaged = await ended(['restore'], { SLUICE_BACKUP_PATH: at('backup'), SLUICE_STATE_PATH: at('restored') })
    assert.deepEqual([damaged[0], /cannot be restored: it is damaged/.test(String(damaged[1].reason))], [1, true])
    mkdirSync(at('linked'))
    symlinkSync('/etc/hostname', at('linked', 'metadata-backup-demo-ns.gz'))
    const linked = await ended(['restore'], { SLUICE_BACKUP_PATH: at('linked'), SLUICE_STATE_PATH: at('restored') })
    assert.deepEqual([linked[0], /ELOOP/.test(String(linked[1].reason))], [1, true])
    assert.deepEqual(readdirSync(at('restored')), ['restore.gz'])
    // The dataset, through its cache, into a directory.
    const [code, migrated] = await ended(['migrate'], {
      SLUICE_MIGRATE_FROM: JSON.stringify({ uri: 'dataset://ns/demo/images', subPath: 'images' }),
      SLUICE_MIGRATE_TO: JSON.stringify({ uri: 'local:///to', path: at('migrated') }),
      SLUICE_MIGRATE_PARALLELISM: '4',
    })
    assert.deepEqual([code, migrated.copied, migrated.copiedBytes], [0, files.size, bytes], String(migrated.reason))
    for (const [name, content] of files) assert.ok(readFileSync(at('migrated', name)).equals(content), name)
  }
})
