/**
 * Where everything of the proof lies and listens: one directory, loopback addresses that no other proof uses, the files that a pod
 * of the cache would find mounted, and the programs with their environments. Quotas are smaller than the data.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Random } from '../../../src/base/random.ts'
import { BUCKET, BUCKET_KEY } from './bucket.ts'
import type { ClusterKeys } from './cluster-keys.ts'
import { Program, type ProgramOptions } from './program.ts'

export const DATASET = { namespace: 'team', name: 'demo' }
export const BLOCK_BYTES = 1024 * 1024
const GUEST = 'guest'
const MASTER_PORT = 19450
const WORKER_PORT = 19451
const NODES = ['n0', 'n1', 'n2']
/** Of all the data, on each worker: memory, and two directories of a disk. Three workers have less than all of it. */
const SHARES = [0.09, 0.08, 0.1]
/** Not a multiple of anything. */
const ODD_BYTES = 77

export interface TierDirectory {
  directory: string
  quotaBytes: number
}

export interface WorkerPlace {
  name: string
  address: string
  tiers: readonly TierDirectory[]
}

export interface ClientPlace {
  node: string
  directory: string
  /** Its token's namespace may read these alone; undefined: everything. */
  granted?: readonly string[]
}

export interface SceneOptions {
  folder: string
  random: Random
  megabytes: number
}

/** Addresses and directories; nothing is made yet but directories. */
export class Scene {
  readonly workers: readonly WorkerPlace[]
  readonly clients: readonly ClientPlace[]
  readonly key: Uint8Array
  readonly #options: SceneOptions
  readonly #network: string

  constructor(options: SceneOptions) {
    this.#options = options
    // All of 127/8 is this machine; two proofs at a time have different processes.
    this.#network = `127.${80 + ((process.pid >> 8) & 63)}.${process.pid & 255}`
    this.key = options.random.bytes(32)
    this.workers = NODES.map((node, i) => ({
      name: `w${i}`,
      address: `${this.host(10 + i)}:${WORKER_PORT}`,
      tiers: SHARES.map((share, at) => ({
        directory: this.directory('tiers', node, ['mem', 'ssd0', 'ssd1'][at] ?? ''),
        quotaBytes: Math.max(BLOCK_BYTES + ODD_BYTES, Math.floor(options.megabytes * 1024 * 1024 * share) + ODD_BYTES),
      })),
    }))
    this.clients = [
      { node: 'n0', directory: this.directory('nodes', 'n0') },
      { node: 'n1', directory: this.directory('nodes', 'n1'), granted: ['/files', '/objects/a'] },
    ]
  }

  host(last: number): string {
    return `${this.#network}.${last}`
  }

  at(...parts: string[]): string {
    return path.join(this.#options.folder, ...parts)
  }

  directory(...parts: string[]): string {
    const made = this.at(...parts)
    mkdirSync(made, { recursive: true })
    return made
  }

  /** What is mounted into pods: runtime.json of each, keys, tokens, grants. */
  write({ endpoint, keys }: { endpoint: string; keys: ClusterKeys }): void {
    this.directory('config')
    this.directory('log')
    for (const [name, text] of [
      ['id', BUCKET_KEY],
      ['secret', BUCKET_KEY],
      ['token-n0', keys.token(DATASET.namespace)],
      ['token-n1', keys.token(GUEST)],
      [
        'grants.json',
        JSON.stringify(this.clients.flatMap(({ granted = [] }) => granted.map((subPath) => ({ namespace: GUEST, subPath })))),
      ],
    ] as const)
      writeFileSync(this.at('config', name), text)
    writeFileSync(this.at('config', 'key'), this.key)
    const config = (of: readonly TierDirectory[]) => ({
      mounts: [
        { name: 'files', mountPoint: 'local:///files', path: '/files' },
        {
          name: 'objects',
          mountPoint: `s3://${BUCKET}`,
          path: '/objects',
          options: { 'aws.endpoint': endpoint, 'fs.s3a.path.style.access': 'true' },
          encryptOptions: { 'aws.accessKeyId': this.at('config', 'id'), 'aws.secretKey': this.at('config', 'secret') },
        },
      ],
      accessModes: ['ReadOnlyMany'],
      master: { options: { metadataSyncInterval: '1s', allowPrivateAddresses: 'true' } },
      worker: { options: { blockSize: String(BLOCK_BYTES), allowPrivateAddresses: 'true' }, tieredStoreLevels: levels(of) },
      client: {},
    })
    writeFileSync(this.at('config', 'master.json'), JSON.stringify(config([])))
    for (const [i, { tiers }] of this.workers.entries()) writeFileSync(this.at('config', `n${i}.json`), JSON.stringify(config(tiers)))
  }

  /** Master, workers, clients. */
  programs(of: Pick<ProgramOptions, 'file' | 'onEnd'>, keys: ClusterKeys): Program[] {
    const env = {
      FLUID_DATASET_NAMESPACE: DATASET.namespace,
      FLUID_DATASET_NAME: DATASET.name,
      SLUICE_KEY_PATH: this.at('config', 'key'),
      SLUICE_STATE_PATH: this.directory('state'),
      SLUICE_SOURCES_PATH: this.directory('sources'),
      SLUICE_ACCESS_PATH: this.at('config', 'grants.json'),
      SLUICE_ACCOUNT_PATH: this.at('account'),
      SLUICE_MASTER_ADDRESS: `${this.host(1)}:${MASTER_PORT}`,
      KUBERNETES_SERVICE_HOST: this.host(200),
      KUBERNETES_SERVICE_PORT: String(keys.port),
    }
    const program = (name: string, command: ProgramOptions['command'], own: Record<string, string>): Program =>
      new Program({ ...of, name, command, env: { ...env, ...own }, log: this.at('log', `${name}.log`) })
    return [
      program('master', 'master', { POD_IP: this.host(1), FLUID_RUNTIME_CONFIG_PATH: this.at('config', 'master.json') }),
      ...this.workers.map(({ name }, i) =>
        program(name, 'worker', {
          POD_NAME: name,
          POD_IP: this.host(10 + i),
          NODE_NAME: NODES[i] ?? '',
          FLUID_RUNTIME_CONFIG_PATH: this.at('config', `n${i}.json`),
        }),
      ),
      ...this.clients.map(({ node, directory }, i) =>
        program(`client-${node}`, 'client', {
          NODE_NAME: node,
          POD_IP: this.host(20 + i),
          FLUID_RUNTIME_MOUNT_PATH: directory,
          FLUID_RUNTIME_CONFIG_PATH: this.at('config', `${node}.json`),
          SLUICE_TOKEN_PATH: this.at('config', `token-${node}`),
        }),
      ),
    ]
  }
}

const levels = ([memory, ...disks]: readonly TierDirectory[]) =>
  memory === undefined
    ? []
    : [
        { mediumType: 'MEM', mountPaths: [memory.directory], quotas: [String(memory.quotaBytes)] },
        {
          mediumType: 'SSD',
          mountPaths: disks.map(({ directory }) => directory),
          quotas: disks.map(({ quotaBytes }) => String(quotaBytes)),
        },
      ]
