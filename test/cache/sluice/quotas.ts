/**
 * Looks at the directories of tiers: of workers that run through their own eyes (memory is mounted for them alone), of dead ones on
 * the node. Workers are held still meanwhile, so that no file is counted under two names.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Random } from '../../../src/base/random.ts'
import type { Checks } from '../checks.ts'
import { holdStill } from '../hold-still.ts'
import { damageBlock, tierBytes } from '../programs/tiers.ts'
import { type CacheProgram, cachePrograms } from './cache-programs.ts'
import type { DatasetPlan } from './manifests.ts'

export interface QuotasOptions {
  dataDir: string
  plans: readonly DatasetPlan[]
  checks: Pick<Checks<'quota'>, 'judge'>
}

interface TierConfig {
  worker: { tieredStoreLevels: { mountPaths: string[]; quotas: string[] }[] }
}

const CONFIG = '/etc/fluid/config/runtime.json'

export class Quotas {
  readonly #options: QuotasOptions
  #fullest = 0

  constructor(options: QuotasOptions) {
    this.#options = options
  }

  /** Of its quota, as a share. */
  get fullest(): number {
    return this.#fullest
  }

  /** Every directory of every worker that runs, and every directory of nodes. */
  async look(): Promise<void> {
    const workers = this.#workers()
    await holdStill(
      workers.map(({ pid }) => pid),
      () => {
        for (const worker of workers) this.#judgeWorker(worker)
        // A worker that was started meanwhile may be moving files.
        if (this.#workers().every(({ pid }) => workers.some((other) => other.pid === pid))) this.#judgeNodes('while workers are held still')
      },
    )
  }

  /** Of a worker that is dead; what was done, if there was a block. */
  damage({ node, dataset }: CacheProgram, random: Random): string | undefined {
    const mine = this.#nodeDirectories().filter((one) => one.node === node && one.dataset === dataset)
    const { directory } = mine[Math.floor(random.next() * mine.length)] ?? {}
    return directory === undefined ? undefined : damageBlock(directory, random)
  }

  /** What is on disk of the nodes, of living and dead workers. */
  #judgeNodes(when: string): void {
    for (const { directory, quotaBytes } of this.#nodeDirectories())
      this.#judge(directory, { quotaBytes, bytes: tierBytes(directory), when })
  }

  #workers(): CacheProgram[] {
    return cachePrograms(this.#options.dataDir).filter(({ role }) => role === 'worker')
  }

  #judgeWorker({ pid, dataset }: CacheProgram): void {
    for (const { directory, quotaBytes } of tiersOf(pid)) {
      let bytes: number
      try {
        bytes = tierBytes(`/proc/${pid}/root${directory}`)
      } catch (error) {
        // Killed just now.
        if (isGone(error)) continue
        throw error
      }
      this.#judge(`${directory} of a worker of ${dataset}`, { quotaBytes, bytes, when: 'while it runs' })
    }
  }

  #judge(what: string, { quotaBytes, bytes, when }: { quotaBytes: number; bytes: number; when: string }): void {
    this.#fullest = Math.max(this.#fullest, bytes / quotaBytes)
    this.#options.checks.judge('quota', bytes <= quotaBytes ? undefined : `${what} ${when}: ${bytes} of ${quotaBytes} bytes`)
  }

  #nodeDirectories(): { node: string; dataset: string; directory: string; quotaBytes: number }[] {
    const { dataDir, plans } = this.#options
    const nodes = path.join(dataDir, 'members', 'member1', 'nodes')
    return namesIn(nodes).flatMap((node) =>
      plans.flatMap(({ name, directories }) =>
        [...directories]
          .map(([relative, quotaBytes]) => ({ node, dataset: name, directory: path.join(nodes, node, relative), quotaBytes }))
          .filter(({ directory }) => namesIn(directory).length > 0),
      ),
    )
  }
}

/** Empty when it has not come so far, or is gone. */
function tiersOf(pid: number): { directory: string; quotaBytes: number }[] {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/root${CONFIG}`, 'utf8')
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
  const { worker } = JSON.parse(text) as TierConfig
  return worker.tieredStoreLevels.flatMap(({ mountPaths, quotas }) =>
    mountPaths.map((directory, i) => {
      const quotaBytes = Number(quotas[i])
      if (!Number.isSafeInteger(quotaBytes)) throw new Error(`the quota ${quotas[i]} of ${directory} is no number of bytes`)
      return { directory, quotaBytes }
    }),
  )
}

const isGone = (error: unknown): boolean => ['ENOENT', 'ESRCH', 'EACCES', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
