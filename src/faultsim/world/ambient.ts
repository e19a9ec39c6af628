/**
 * Inside a world no code may bypass the values it was given: the clock, randomness, timers, disk, network, processes and
 * environment of the machine throw, with a sentence that says what to use instead. Each function is wrapped once for the
 * life of the process and passes through unless a world is running right now, so the test runner keeps its own.
 */
import childProcess from 'node:child_process'
import crypto from 'node:crypto'
import dgram from 'node:dgram'
import dns from 'node:dns'
import fs from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { performance } from 'node:perf_hooks'
import timers from 'node:timers'
import timersPromises from 'node:timers/promises'
import tls from 'node:tls'

/** Something inside a world used the machine it happens to run on. */
export class AmbientUseError extends Error {
  constructor(what: string, advice: string) {
    super(`${what} was used inside a world, where ${advice}`)
    this.name = 'AmbientUseError'
  }
}

const TIME = 'time is a value: ask the Clock you were given (clock.now())'
const TIMERS = 'only the Clock you were given has timers: clock.after(ms, callback), or sleep(clock, ms)'
const CHANCE = 'chance is a value: draw from the Random you were given (uuid(random), random.next(), random.bytes(n))'
const DISK = 'there is no disk: take what you need as a value; files are read in main.ts and in the adapters alone'
const NETWORK = 'there is no network: reach API servers through the Transport you were given'
const PROCESSES = 'there are no other processes: take what they would answer as a value'
const ENVIRONMENT = 'there is no environment: options are values, read in main.ts alone'

interface Guard {
  /** Runs `work` with everything ambient forbidden. */
  during<T>(work: () => T): T
  /** Runs every promise that is ready, and those that become ready as a result, with everything ambient forbidden. */
  turn(): Promise<void>
  /** What was refused since the last call: recorded even if the caller swallowed the error. */
  takeRefusals(): AmbientUseError[]
}

/** The one guard of the process: globals are one per process too. */
export const ambient: Guard = installGuard()

function installGuard(): Guard {
  const realImmediate = globalThis.setImmediate
  let depth = 0
  let refusals: AmbientUseError[] = []
  const check = (what: string, advice: string): void => {
    if (depth === 0) return
    const error = new AmbientUseError(what, advice)
    refusals.push(error)
    throw error
  }
  wrapAll(check)
  return {
    during(work) {
      depth++
      try {
        return work()
      } finally {
        depth--
      }
    },
    turn() {
      depth++
      return new Promise((resolve) => {
        realImmediate(() => {
          depth--
          resolve()
        })
      })
    },
    takeRefusals() {
      const taken = refusals
      refusals = []
      return taken
    },
  }
}

type Check = (what: string, advice: string) => void

function wrapAll(check: Check): void {
  wrapDate(check)
  wrap(check, { target: Math, name: 'Math', functions: ['random'], advice: CHANCE })
  wrap(check, { target: performance, name: 'performance', functions: ['now'], advice: TIME })
  wrapHighResolution(check)
  const timerFunctions = ['setTimeout', 'setInterval', 'setImmediate']
  wrap(check, { target: globalThis, name: 'globalThis', functions: timerFunctions, advice: TIMERS })
  wrap(check, { target: timers, name: 'timers', functions: timerFunctions, advice: TIMERS })
  wrap(check, { target: timersPromises, name: 'timers/promises', functions: timerFunctions, advice: TIMERS })
  wrap(check, { target: AbortSignal, name: 'AbortSignal', functions: ['timeout'], advice: TIMERS })
  wrap(check, { target: globalThis.crypto, name: 'crypto', functions: ['randomUUID', 'getRandomValues'], advice: CHANCE })
  const chance = ['randomUUID', 'randomBytes', 'randomInt', 'randomFill', 'randomFillSync', 'generateKeyPairSync', 'generateKeySync']
  wrap(check, { target: crypto, name: 'crypto', functions: chance, advice: CHANCE })
  wrap(check, { target: fs, name: 'fs', functions: functionsOf(fs), advice: DISK, except: isForStackTraces })
  wrap(check, { target: fs.promises, name: 'fs/promises', functions: functionsOf(fs.promises), advice: DISK })
  wrapNetwork(check)
  wrap(check, { target: childProcess, name: 'child_process', functions: functionsOf(childProcess), advice: PROCESSES })
  wrapEnvironment(check)
  syncBuiltinESMExports()
}

function wrapNetwork(check: Check): void {
  const calls: [string, object, string[]][] = [
    ['net', net, ['connect', 'createConnection', 'createServer']],
    ['net.Socket', net.Socket.prototype, ['connect']],
    ['net.Server', net.Server.prototype, ['listen']],
    ['tls', tls, ['connect', 'createServer']],
    ['http', http, ['request', 'get', 'createServer']],
    ['https', https, ['request', 'get', 'createServer']],
    ['http2', http2, ['connect', 'createServer', 'createSecureServer']],
    ['dgram', dgram, ['createSocket']],
    ['dns', dns, ['lookup', 'resolve']],
    ['globalThis', globalThis, ['fetch']],
  ]
  for (const [name, target, functions] of calls) wrap(check, { target, name, functions, advice: NETWORK })
}

interface Wrapping {
  target: object
  name: string
  functions: readonly string[]
  advice: string
  except?(args: readonly unknown[]): boolean
}

function wrap(check: Check, { target, name, functions, advice, except }: Wrapping): void {
  const holder = target as Record<string, unknown>
  for (const key of functions) {
    const original = holder[key]
    if (typeof original !== 'function') continue
    const label = name === 'globalThis' ? `${key}()` : `${name}.${key}()`
    const guarded = function (this: unknown, ...args: unknown[]): unknown {
      if (except === undefined || !except(args)) check(label, advice)
      return Reflect.apply(original, this, args)
    }
    // Properties of the function itself (util.promisify's own version, fs.realpathSync.native) are kept.
    for (const extra of Reflect.ownKeys(original)) {
      const descriptor = Object.getOwnPropertyDescriptor(original, extra)
      if (descriptor !== undefined && Object.getOwnPropertyDescriptor(guarded, extra)?.configurable !== false)
        Object.defineProperty(guarded, extra, descriptor)
    }
    Object.defineProperty(holder, key, { value: guarded, writable: true, configurable: true, enumerable: true })
  }
}

function functionsOf(module: object): string[] {
  const isClass = (name: string): boolean => /^[A-Z_]/.test(name)
  return Object.keys(module).filter((name) => !isClass(name) && typeof (module as Record<string, unknown>)[name] === 'function')
}

/** Node itself reads source maps when the stack of an error is read. */
function isForStackTraces(args: readonly unknown[]): boolean {
  const path = String(args[0])
  return path.endsWith('.map') || path.endsWith('.mjs')
}

function wrapDate(check: Check): void {
  const RealDate = Date
  const guarded: DateConstructor = new Proxy(RealDate, {
    construct(target, args, newTarget): object {
      if (args.length === 0) check('new Date()', TIME)
      return Reflect.construct(target, args, newTarget === guarded ? target : newTarget) as object
    },
    apply(target) {
      check('Date()', TIME)
      return Reflect.apply(target, undefined, [])
    },
    get(target, key, receiver) {
      if (key !== 'now') return Reflect.get(target, key, receiver) as unknown
      return () => {
        check('Date.now()', TIME)
        return RealDate.now()
      }
    },
  })
  globalThis.Date = guarded
}

function wrapHighResolution(check: Check): void {
  const original = process.hrtime
  const guarded = Object.assign(
    (time?: [number, number]): [number, number] => {
      check('process.hrtime()', TIME)
      return original(time)
    },
    {
      bigint: (): bigint => {
        check('process.hrtime.bigint()', TIME)
        return original.bigint()
      },
    },
  )
  process.hrtime = guarded
}

/**
 * Debug switches of the YAML reader, which reads them for every document and only prints by them. And those that Node reads
 * when a program is compiled while source maps are on, as a Lua script is here.
 */
const HARMLESS = new Set(['LOG_TOKENS', 'LOG_STREAM', 'NODE_V8_COVERAGE'])

function wrapEnvironment(check: Check): void {
  process.env = new Proxy(process.env, {
    get(target, key, receiver) {
      if (typeof key === 'string' && !HARMLESS.has(key)) check(`process.env.${key}`, ENVIRONMENT)
      return Reflect.get(target, key, receiver) as unknown
    },
  })
}
