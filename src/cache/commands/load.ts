/** `load`: brings paths of a dataset into its cache, by the master; see docs/design/0017-programs.md. */
import { sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { quantityValue, tryParseQuantity } from '../../kube/quantity.ts'
import { ConfigError } from '../config/fields.ts'
import { HttpError } from '../http/errors.ts'
import { createRequester } from '../http/request.ts'
import type { Progress } from '../operations/progress.ts'
import { askSigned, type Deps, masterAddress, readConfig, readKey } from './deps.ts'
import { flag } from './flag.ts'
import { type OperationEnd, runOperation } from './operation.ts'

const PAUSE_MS = 1000
const ASK_MS = 15_000
/** A master that is started anew takes less. */
const PATIENCE_MS = 300_000
const NOT_FOUND = 404
const ID_BYTES = 8

export const load = (deps: Deps): Promise<number> => runOperation(deps, 'load', (progress) => loadOnce(deps, progress))

type Send = (method: 'POST' | 'GET' | 'DELETE') => Promise<JsonObject>

async function loadOnce(deps: Deps, progress: Progress): Promise<OperationEnd> {
  const { clock, random } = deps
  const body = loadRequest(deps)
  const address = masterAddress(deps, readConfig(deps).config)
  const key = readKey(deps)
  const requester = createRequester()
  const target = `/v1/loads/${Buffer.from(random.bytes(ID_BYTES)).toString('hex')}`
  const send: Send = async (method) => {
    const asked = { method, target, ...(method === 'POST' ? { body } : {}), timeoutMs: ASK_MS }
    const answer = await askSigned(requester, { address, key, clock }, asked)
    if (!isJsonObject(answer)) throw new Error("the master's answer cannot be read")
    return answer
  }
  try {
    const answer = await untilEnded(deps, send, progress)
    // Nobody asks any more; without this the master would keep it for two minutes.
    await send('DELETE').catch((error: unknown) => deps.log.write('debug', 'the master could not be told', { error: messageOf(error) }))
    if (answer === undefined) throw new Error('ended')
    return endOf(answer)
  } finally {
    requester.close()
  }
}

/** Undefined: it is to end. A master that was started anew knows nothing of the load, and begins it again: what is there is there. */
async function untilEnded({ clock, signal }: Deps, send: Send, progress: Progress): Promise<JsonObject | undefined> {
  let method: 'POST' | 'GET' = 'POST'
  let heardMs = clock.now()
  while (!signal.aborted) {
    try {
      const answer = await send(method)
      method = 'GET'
      heardMs = clock.now()
      show(answer, progress)
      if (answer.state !== 'running') return answer
    } catch (error) {
      if (error instanceof HttpError && error.status === NOT_FOUND && method === 'GET') {
        method = 'POST'
        continue
      }
      if (error instanceof HttpError && error.status >= 400 && error.status < 500) throw new ConfigError(error.message)
      if (clock.now() - heardMs >= PATIENCE_MS) throw error
      progress.message = messageOf(error)
    }
    await sleep(clock, PAUSE_MS, signal)
  }
  return undefined
}

const countIn = (answer: JsonObject, name: string): number => {
  const value = answer[name]
  return typeof value === 'number' && value >= 0 ? value : 0
}

function show(answer: JsonObject, progress: Progress): void {
  progress.step = typeof answer.step === 'string' ? answer.step.slice(0, 32) : 'loading'
  progress.message = typeof answer.reason === 'string' ? answer.reason : undefined
  progress.bytesTotal = countIn(answer, 'total')
  progress.filesDone = countIn(answer, 'filesDone')
  progress.filesTotal = countIn(answer, 'filesTotal')
  progress.isTotalKnown = progress.step === 'loading'
  const done = countIn(answer, 'loaded') + countIn(answer, 'noSpace') + countIn(answer, 'failed')
  // A master that was started anew begins again.
  if (done < progress.bytesDone) progress.bytesDone = 0
  progress.moved(done - progress.bytesDone)
}

function endOf(answer: JsonObject): OperationEnd {
  const { missing } = answer
  const [failed, missingCount] = [countIn(answer, 'failed'), countIn(answer, 'missingCount')]
  const names = Array.isArray(missing) ? missing.filter((name) => typeof name === 'string') : []
  const figures = {
    ...{ loadedBytes: countIn(answer, 'loaded'), noSpaceBytes: countIn(answer, 'noSpace'), failedBytes: failed },
    ...(missingCount > 0 ? { missing: names, missingCount } : {}),
  }
  const why = typeof answer.reason === 'string' ? answer.reason : 'the master does not say why'
  if (answer.state !== 'done') return { result: 'failed', reason: why, figures }
  if (failed > 0) return { result: 'failed', reason: `${failed} bytes could not be loaded: ${why}`, figures }
  if (missingCount > 0) return { result: 'incomplete', reason: `the dataset has no ${names.slice(0, 5).join(', ')}`, figures }
  return { result: 'complete', figures }
}

/** Fluid's variables, or the targets as JSON: a path with a colon cannot be told from two. */
function loadRequest(deps: Deps): object {
  const { env } = deps
  const bandwidth = env.get('SLUICE_LOAD_BANDWIDTH') ?? ''
  const concurrency = env.get('SLUICE_LOAD_CONCURRENCY') ?? ''
  return {
    targets: targetsIn(env),
    loadsMetadata: flag(deps, 'FLUID_DATALOAD_METADATA'),
    ...(bandwidth === '' ? {} : { bandwidth: bytesOf(bandwidth) }),
    ...(concurrency === '' ? {} : { concurrency: numberOf('SLUICE_LOAD_CONCURRENCY', concurrency) }),
  }
}

function targetsIn(env: Deps['env']): object[] {
  const json = env.get('SLUICE_LOAD_TARGETS') ?? ''
  if (json !== '') return parsedTargets(json)
  const paths = (env.get('FLUID_DATALOAD_DATA_PATH') ?? '').split(':').filter((path) => path !== '')
  const copies = (env.get('FLUID_DATALOAD_PATH_REPLICAS') ?? '').split(':').filter((count) => count !== '')
  if (copies.length > 0 && copies.length !== paths.length)
    throw new ConfigError('FLUID_DATALOAD_PATH_REPLICAS must have a number for each path of FLUID_DATALOAD_DATA_PATH')
  return paths.map((path, i) => {
    const count = copies[i]
    return { path, ...(count === undefined ? {} : { replicas: numberOf('FLUID_DATALOAD_PATH_REPLICAS', count) }) }
  })
}

function parsedTargets(json: string): object[] {
  try {
    const targets: unknown = JSON.parse(json)
    if (Array.isArray(targets) && targets.every(isJsonObject)) return targets
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new ConfigError('SLUICE_LOAD_TARGETS must be a list such as [{"path": "/images", "replicas": 2}]')
}

function numberOf(name: string, text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new ConfigError(`${name}: ${JSON.stringify(text.slice(0, 100))} is no whole number`)
  return Number(text)
}

function bytesOf(text: string): number {
  const { value } = tryParseQuantity(text)
  const bytes = value === undefined ? Number.NaN : Number(quantityValue(value))
  if (!Number.isSafeInteger(bytes) || bytes < 1)
    throw new ConfigError(
      `SLUICE_LOAD_BANDWIDTH: ${JSON.stringify(text.slice(0, 100))} is not an amount of bytes in a second, such as 100Mi`,
    )
  return bytes
}
