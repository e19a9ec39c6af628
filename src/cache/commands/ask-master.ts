/**
 * The commands that ask the master and print what it says: `mount-ufs` and `report-summary`, which Fluid's contract runs in the
 * master's pod; `decommission`, which goes on until the worker is gone or stays; `recommission`, which makes it stay; `preload`,
 * until everything is loaded; and `clear`, until nothing is stored.
 */
import { sleep } from '../../base/clock.ts'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { createRequester, type Requester } from '../http/request.ts'
import { askSigned, type Deps, masterAddress, readConfig, readKey } from './deps.ts'

/** What Fluid's contract knows first, then what is shown besides. */
const SUMMARY = [
  ...['cached', 'cachedPercentage', 'cacheCapacity', 'cacheHitRatio'],
  ...['localHitRatio', 'remoteHitRatio', 'cacheThroughputRatio', 'localThroughputRatio', 'remoteThroughputRatio'],
  ...['ufsTotal', 'fileNum'],
]
const MOUNT_MS = 15_000
const PAUSE_MS = 1000

async function withMaster(
  deps: Deps,
  ask: (send: (method: string, target: string) => Promise<JsonObject>) => Promise<void>,
): Promise<void> {
  const requester: Requester = createRequester()
  const { clock, signal } = deps
  const address = masterAddress(deps, readConfig(deps).config)
  const key = readKey(deps)
  try {
    await ask(async (method, target) => {
      const answer = await askSigned(requester, { address, key, clock }, { method, target, timeoutMs: MOUNT_MS, signal })
      if (!isJsonObject(answer)) throw new Error(`the master's answer to ${target} cannot be read`)
      return answer
    })
  } finally {
    requester.close()
  }
}

export const mountUfs = (deps: Deps): Promise<void> =>
  withMaster(deps, async (send) => {
    const { mounted, failed } = await send('POST', '/v1/mounts')
    deps.print(JSON.stringify({ mounted }))
    const reasons = failuresIn(failed)
    if (reasons.length > 0) throw new Error(reasons.join('; '))
  })

/** `/images: S3 refuses access (…)`. */
const failuresIn = (failed: unknown): string[] =>
  (Array.isArray(failed) ? failed : []).map((one: unknown) =>
    isJsonObject(one) ? `${String(one.path)}: ${String(one.reason)}` : 'a source cannot be read',
  )

export const reportSummary = (deps: Deps): Promise<void> =>
  withMaster(deps, async (send) => {
    const report = await send('GET', '/v1/report')
    const problems = failuresIn(
      (Array.isArray(report.mounts) ? report.mounts : []).filter((one) => isJsonObject(one) && one.reason !== undefined),
    )
    deps.print(
      JSON.stringify({
        ...Object.fromEntries(SUMMARY.map((name) => [name, report[name]])),
        ...(problems.length === 0 ? {} : { problem: problems.join('; ') }),
        workers: workersIn(report.workers),
      }),
    )
  })

/** Beside what the contract knows: which worker holds how much, and what it has read for others. */
const workersIn = (workers: unknown): JsonObject[] =>
  (Array.isArray(workers) ? workers : []).filter(isJsonObject).map((worker) => {
    const { pod, node, cachedBytes, capacityBytes, servedBytes, sourceBytes, state } = worker
    return { pod, node, cachedBytes, capacityBytes, servedBytes, sourceBytes, state }
  })

/** Prints a line whenever there is progress; ends when the worker has nothing left to hand over, or is taken back. */
export async function decommission(deps: Deps, pod: string): Promise<void> {
  await untilDone(deps, {
    target: `/v1/workers/${encodeURIComponent(pod)}/leave`,
    // Asked again it goes on, unless it was taken back.
    follow: { method: 'POST', target: `/v1/workers/${encodeURIComponent(pod)}/leave?again=true` },
    isDone: ({ state }) => state === 'gone',
    early: 'ended before the worker was gone: run it again, it goes on where it was',
  })
}

/** Makes a worker serve again that leaves, or has handed everything over. */
export const recommission = (deps: Deps, pod: string): Promise<void> =>
  withMaster(deps, async (send) => deps.print(JSON.stringify(await send('POST', `/v1/workers/${encodeURIComponent(pod)}/stay`))))

/** Prints a line whenever there is progress; fails when something could not be loaded for another reason than room. */
export async function preload(deps: Deps): Promise<void> {
  const { failed, reason } = await untilDone(deps, {
    target: '/v1/preload',
    follow: { method: 'GET', target: '/v1/preload' },
    isDone: ({ state }) => state === 'done',
    early: 'ended before everything was loaded: the master goes on; run it again to see how far it is',
  })
  if (failed !== 0) throw new Error(`${String(failed)} bytes could not be loaded: ${String(reason ?? 'the master does not say why')}`)
}

/** Prints a line whenever there is progress; ends when no worker has a block left. Nothing is stored from then on. */
export async function clear(deps: Deps): Promise<void> {
  await untilDone(deps, {
    target: '/v1/clear',
    follow: { method: 'POST', target: '/v1/clear' },
    isDone: ({ state }) => state === 'cleared',
    early: 'ended before all blocks were removed: run it again, it goes on where it was',
  })
}

interface Lasting {
  target: string
  /** How it is asked how far it is, once it was begun. */
  follow: { method: 'GET' | 'POST'; target: string }
  isDone(progress: JsonObject): boolean
  /** What is said when it is asked to end before. */
  early: string
}

/** Begins it, or goes on with it, and asks for its progress until it is done. */
async function untilDone(deps: Deps, { target, follow, isDone, early }: Lasting): Promise<JsonObject> {
  let last: JsonObject | undefined
  await withMaster(deps, async (send) => {
    let printed = ''
    for (let asked = { method: 'POST', target }; !deps.signal.aborted; asked = follow) {
      const progress = await send(asked.method, asked.target)
      const line = JSON.stringify(progress)
      if (line !== printed) deps.print(line)
      printed = line
      if (isDone(progress)) {
        last = progress
        return
      }
      await sleep(deps.clock, PAUSE_MS, deps.signal)
    }
  })
  if (last === undefined) throw new Error(early)
  return last
}
