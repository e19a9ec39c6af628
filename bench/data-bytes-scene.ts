/** The programs of the builtin cache as processes of their own, over one directory of this machine, without a cluster around them. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../src/base/random.ts'
import { layoutOf } from '../src/cache/client/layout.ts'
import { requestIdOf, requestText, type VolumeState } from '../src/kube/materialised-volume.ts'
import { buildCacheProgram } from '../test/cache/cache-program.ts'
import { type ClusterKeys, startClusterKeys } from '../test/cache/programs/cluster-keys.ts'
import { type Child, startChild } from '../test/machine/child.ts'
import { cpuMs } from './processes.ts'

export const DATASET = { namespace: 'team', name: 'demo' }
/** Where the worker is. */
export const WORKER_NODE = 'n0'
const MASTER_PORT = 19450
const WORKER_PORT = 19451
const WHOLE = '/'
const LOOK_MS = 5
const WITHIN_MS = 20 * 60_000

export interface SceneOptions {
  folder: string
  /** The directory that is cached. */
  source: string
  quotaBytes: number
  /** A directory for CPU profiles of the programs. */
  profile?: string
}

export interface ProgramCpu {
  master: number
  worker: number
  client: number
}

export interface FillFigures {
  wallMs: number
  cpuMs: ProgramCpu
  /** Where the files are. */
  directory: string
}

/** One master, one worker; clients come and go. */
export class CacheScene {
  readonly tier: string
  readonly #options: SceneOptions
  readonly #program: string
  readonly #keys: ClusterKeys
  readonly #network: string
  readonly #running = new Map<'master' | 'worker', Child>()
  #serial = 0
  #isClosed = false

  private constructor(options: SceneOptions, made: { program: string; keys: ClusterKeys; network: string }) {
    this.#options = options
    this.#program = made.program
    this.#keys = made.keys
    this.#network = made.network
    this.tier = path.join(options.folder, 'tier')
  }

  static async open(options: SceneOptions): Promise<CacheScene> {
    const { folder, source } = options
    for (const name of ['tier', 'sources', 'state', 'log', 'config']) mkdirSync(path.join(folder, name), { recursive: true })
    symlinkSync(source, path.join(folder, 'sources', 'files'))
    // All of 127/8 is this machine; two at a time have different processes.
    const network = `127.${80 + ((process.pid >> 8) & 63)}.${process.pid & 255}`
    const random = seededRandom(1)
    const keys = await startClusterKeys(`${network}.200`, path.join(folder, 'account'), random)
    const scene = new CacheScene(options, { program: await buildCacheProgram(folder), keys, network })
    scene.#write('key', random.bytes(32))
    scene.#write('token', keys.token(DATASET.namespace))
    const tiers = [{ mediumType: 'SSD', mountPaths: [scene.tier], quotas: [String(options.quotaBytes)] }]
    // The same options as the class `builtin`: blocks of 4 MiB.
    const config = (tieredStoreLevels: unknown[]) =>
      JSON.stringify({
        mounts: [{ name: 'files', mountPoint: 'local:///files', path: WHOLE }],
        accessModes: ['ReadOnlyMany'],
        master: { options: { metadataSyncInterval: '0' } },
        worker: { options: {}, tieredStoreLevels },
        client: {},
      })
    scene.#write('near.json', config(tiers))
    // Clients of other nodes do not see the tier.
    scene.#write('far.json', config(tiers.map((tier) => ({ ...tier, mountPaths: [path.join(folder, 'not-here')] }))))
    return scene
  }

  get masterAddress(): string {
    return `${this.#network}.1:${MASTER_PORT}`
  }

  token(): Promise<string> {
    return Promise.resolve(this.#keys.token(DATASET.namespace))
  }

  /** An empty worker, and a master that lists the source anew. */
  async start(): Promise<void> {
    for (const [name, last] of [
      ['master', 1],
      ['worker', 10],
    ] as const)
      this.#running.set(name, this.#child(name, { POD_NAME: name, NODE_NAME: WORKER_NODE, POD_IP: `${this.#network}.${last}` }))
    await this.#until('the master', `${this.masterAddress}`)
    await this.#until('the worker', `${this.#network}.10:${WORKER_PORT}`)
  }

  async stop(): Promise<void> {
    for (const child of this.#running.values()) await child.stop()
    this.#running.clear()
    for (const name of ['tier', 'state']) {
      rmSync(path.join(this.#options.folder, name), { recursive: true, force: true })
      mkdirSync(path.join(this.#options.folder, name))
    }
  }

  cpu(name: 'master' | 'worker'): number {
    const child = this.#running.get(name)
    return child === undefined ? Number.NaN : cpuMs([child.pid])
  }

  /** The whole dataset, by a client of this node that has nothing yet. `use` looks at the files while they are there. */
  async fill(node: string, use: (directory: string) => Promise<void> = async () => undefined): Promise<FillFigures> {
    const directory = path.join(this.#options.folder, `node-${this.#serial++}`)
    const layout = layoutOf(directory)
    const id = requestIdOf(WHOLE)
    mkdirSync(layout.requests, { recursive: true })
    const client = this.#child('client', { NODE_NAME: node, POD_IP: `${this.#network}.20`, FLUID_RUNTIME_MOUNT_PATH: directory })
    try {
      // What a start costs is not what filling costs.
      await client.waitUntil('the start of the client', () => this.#log('client').includes('the client fills'))
      const before = { master: this.cpu('master'), worker: this.cpu('worker'), client: cpuMs([client.pid]) }
      const began = performance.now()
      writeFileSync(`${layout.request(id)}`, requestText(WHOLE))
      const state = await this.#ready(layout.stateFile(id), client)
      const wallMs = performance.now() - began
      const spent = {
        master: this.cpu('master') - before.master,
        worker: this.cpu('worker') - before.worker,
        client: cpuMs([client.pid]) - before.client,
      }
      const files = layout.generation(id, state.generation)
      await use(files)
      return { wallMs, cpuMs: spent, directory: files }
    } finally {
      await client.stop()
      rmSync(directory, { recursive: true, force: true })
    }
  }

  /** Also at the end of a run that was interrupted: by then its folder may be gone. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.stop()
    this.#keys.close()
  }

  async #ready(file: string, client: Child): Promise<VolumeState> {
    for (const deadline = performance.now() + WITHIN_MS; performance.now() < deadline; await sleep(LOOK_MS)) {
      client.assertAlive()
      const state = stateIn(file)
      if (state?.state === 'ready') return state
    }
    throw new Error(`the volume is not complete within ${WITHIN_MS / 60_000} minutes: ${this.#log('client').slice(-1000)}`)
  }

  /** Of a program of the cache. Where its node is not the worker's, it does not see the tier. */
  environment(node: string | undefined, own: Record<string, string>): Record<string, string> {
    const at = (...parts: string[]): string => path.join(this.#options.folder, ...parts)
    return {
      FLUID_DATASET_NAMESPACE: DATASET.namespace,
      FLUID_DATASET_NAME: DATASET.name,
      FLUID_RUNTIME_CONFIG_PATH: at('config', node === WORKER_NODE ? 'near.json' : 'far.json'),
      SLUICE_KEY_PATH: at('config', 'key'),
      SLUICE_STATE_PATH: at('state'),
      SLUICE_SOURCES_PATH: at('sources'),
      SLUICE_ACCESS_PATH: at('config', 'grants.json'),
      SLUICE_ACCOUNT_PATH: at('account'),
      SLUICE_MASTER_ADDRESS: this.masterAddress,
      SLUICE_TOKEN_PATH: at('config', 'token'),
      KUBERNETES_SERVICE_HOST: `${this.#network}.200`,
      KUBERNETES_SERVICE_PORT: String(this.#keys.port),
      ...own,
    }
  }

  /** The program, for commands that end by themselves. */
  get program(): string {
    return this.#program
  }

  #child(name: 'master' | 'worker' | 'client', own: Record<string, string>): Child {
    const { folder, profile } = this.#options
    const at = (...parts: string[]): string => path.join(folder, ...parts)
    const log = at('log', `${name}.log`)
    rmSync(log, { force: true })
    const flags =
      profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`, `--cpu-prof-name=${name}-${this.#serial++}.cpuprofile`]
    const env = this.environment(name === 'client' ? own.NODE_NAME : WORKER_NODE, own)
    return startChild({ name, command: process.execPath, args: [...flags, this.#program, name], log, env })
  }

  #write(name: string, content: string | Uint8Array): void {
    writeFileSync(path.join(this.#options.folder, 'config', name), content)
  }

  #log(name: string): string {
    return readFileSync(path.join(this.#options.folder, 'log', `${name}.log`), 'utf8')
  }

  async #until(what: string, address: string): Promise<void> {
    const [child] = [...this.#running.values()]
    await child?.waitUntil(what, async () => {
      for (const one of this.#running.values()) one.assertAlive()
      const answer = await fetch(`http://${address}/healthz`).catch(() => undefined)
      return answer?.ok === true
    })
  }
}

function stateIn(file: string): VolumeState | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as VolumeState
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
