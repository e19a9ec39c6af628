/**
 * What every command is given (main.ts makes it of the process), and what several of them read: the configuration, the runtime's
 * key, where the master is. Variables beginning with SLUICE_ move a path or an address from its place in a pod.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/random.ts'
import { type EngineOptions, engineOptions } from '../config/engine-options.ts'
import { ConfigError } from '../config/fields.ts'
import { parseRuntimeConfig, type RuntimeConfig } from '../config/runtime-config.ts'
import type { Requester } from '../http/request.ts'
import { isSigned, signRequest } from '../http/signed.ts'
import type { RequestSigning } from '../worker/options.ts'

export interface Deps {
  env: ReadonlyMap<string, string>
  clock: Clock
  random: Random
  log: Log
  /** Aborts when the program is asked to end. */
  signal: AbortSignal
  print(line: string): void
}

export const MASTER_PORT = 19450
export const WORKER_PORT = 19451
export const CLIENT_PORT = 19452
const LARGEST_FILE = 8 * 1024 * 1024
const KEY_BYTES = 32
const LISTEN_PORT = /^[0-9]{1,5}$/

/** Throws ConfigError: the variable is needed. */
export function needed({ env }: Deps, name: string): string {
  const value = env.get(name) ?? ''
  if (value === '') throw new ConfigError(`the environment variable ${name} is missing: the pod's template must set it`)
  return value
}

export interface Configured {
  config: RuntimeConfig
  engine: EngineOptions
}

const configFile = ({ env }: Deps): string => env.get('FLUID_RUNTIME_CONFIG_PATH') ?? '/etc/fluid/config/runtime.json'

export function readConfig(deps: Deps): Configured {
  const config = parseRuntimeConfig(readText(configFile(deps)))
  return { config, engine: engineOptions(config) }
}

/** Another text when the file is another one, or has changed. */
export function configStamp(deps: Deps): string {
  const found = statSync(configFile(deps), { throwIfNoEntry: false, bigint: true })
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeNs}`
}

/** Throws ConfigError with the file's name. */
export function readText(file: string): string {
  try {
    if (statSync(file).size > LARGEST_FILE) throw new Error(`longer than ${LARGEST_FILE} bytes`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${messageOf(error)}`)
  }
}

/** Undefined: the engine runs without tickets. */
export function readKey({ env, log }: Deps, mountedAt = '/etc/sluice/key/key'): Uint8Array | undefined {
  const file = env.get('SLUICE_KEY_PATH') ?? mountedAt
  if (!existsSync(file)) {
    // A Secret that is mounted and lacks the key must not open the dataset to everybody.
    if (env.get('SLUICE_KEY_PATH') === undefined && existsSync(path.dirname(file)))
      throw new ConfigError(`${path.dirname(file)} is mounted and holds no ${path.basename(file)}: delete its Secret, and it is made again`)
    log.write('warn', "there is no runtime's key: whoever reaches this program may read the dataset", { file })
    return undefined
  }
  const key = readFileSync(file)
  if (key.length !== KEY_BYTES) throw new ConfigError(`${file} must hold ${KEY_BYTES} bytes`)
  return key
}

export const signingWith = (key: Uint8Array, clock: Clock): RequestSigning => ({
  sign: (request) => signRequest(key, request, clock.now()),
  isSigned: (authorization, request) => isSigned(key, { ...request, authorization, nowMs: clock.now() }),
})

/** `host:port`. */
export function masterAddress({ env }: Deps, { master }: RuntimeConfig): string {
  const given = env.get('SLUICE_MASTER_ADDRESS') ?? ''
  if (given !== '') return given
  if (env.get('FLUID_RUNTIME_COMPONENT_TYPE') === 'master') return hostPort(env.get('POD_IP') || '127.0.0.1', MASTER_PORT)
  if (master.name === '' || master.serviceName === '')
    throw new ConfigError('runtime.json names no master with a service: the class must have both')
  // With the namespace, because a sidecar may be in another one.
  const namespace = env.get('FLUID_DATASET_NAMESPACE') ?? ''
  return `${master.name}-0.${master.serviceName}${namespace === '' ? '' : `.${namespace}`}:${MASTER_PORT}`
}

export const hostPort = (host: string, port: number): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)

/** Where to listen: the pod's own address. */
export function listenAt({ env }: Deps, port: number): { host: string; port: number } {
  const given = env.get('SLUICE_PORT') ?? ''
  return { host: env.get('POD_IP') || '0.0.0.0', port: LISTEN_PORT.test(given) ? Number(given) : port }
}

export interface Asked {
  method: string
  target: string
  /** As JSON. */
  body?: object
  timeoutMs?: number
  signal?: AbortSignal
}

/** A request to a master or worker, signed when there is a key. */
export function askSigned(
  requester: Requester,
  of: { address: string; key: Uint8Array | undefined; clock: Clock },
  asked: Asked,
): Promise<unknown> {
  const { method, target } = asked
  const body = method === 'GET' ? undefined : Buffer.from(JSON.stringify(asked.body ?? {}))
  const headers: Record<string, string> =
    of.key === undefined ? {} : { authorization: signRequest(of.key, { method, target, body }, of.clock.now()) }
  return requester.json({ origin: `http://${of.address}`, ...asked, body, headers })
}

/** Resolves when the program is asked to end. */
export const untilEnded = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
