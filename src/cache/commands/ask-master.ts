/**
 * The commands that ask the master once and print what it says: `mount-ufs` and `report-summary`, which Fluid's contract runs in
 * the master's pod, and `decommission`, which goes on until the worker is gone.
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
const LEAVE_PAUSE_MS = 1000

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
    const { mounted } = await send('POST', '/v1/mounts')
    deps.print(JSON.stringify({ mounted }))
  })

export const reportSummary = (deps: Deps): Promise<void> =>
  withMaster(deps, async (send) => {
    const report = await send('GET', '/v1/report')
    deps.print(JSON.stringify(Object.fromEntries(SUMMARY.map((name) => [name, report[name]]))))
  })

/** Prints a line whenever there is progress; ends when the worker has nothing left to hand over. */
export const decommission = (deps: Deps, pod: string): Promise<void> =>
  withMaster(deps, async (send) => {
    let printed = ''
    while (!deps.signal.aborted) {
      const progress = await send('POST', `/v1/workers/${encodeURIComponent(pod)}/leave`)
      const line = JSON.stringify(progress)
      if (line !== printed) deps.print(line)
      printed = line
      if (progress.state === 'gone') return
      await sleep(deps.clock, LEAVE_PAUSE_MS, deps.signal)
    }
    throw new Error('ended before the worker was gone: run it again, it goes on where it was')
  })
