/** Runs a story without faults, twice, and then once for every fault that can happen to one controller in it. */
import { compare } from './compare.ts'
import { OracleFailure } from './failure.ts'
import { type Point, pointsOf, sample, type Target } from './points.ts'
import { beginningOf, runStory, type Story, type StoryRun } from './run-story.ts'

export interface Proof {
  /** What was covered, as one line. */
  says: string
  failures: readonly { point: string; oracle: string; message: string }[]
}

export interface ProofOptions {
  target: Target
  story: Story
  /** `all`, or the text of one fault; otherwise as many as fit into the budget. */
  only?: string
}

/** Enough to see whether they have a common cause. */
const MOST_FAILURES = 3
/** Estimated, not measured: the choice of faults must not depend on the machine. */
const BUDGET_MS = 2000
const WITHOUT_FAULTS = 'no fault'

export async function prove({ target, story, only }: ProofOptions): Promise<Proof> {
  const failures: { point: string; oracle: string; message: string }[] = []
  const attempt = async <T>(point: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof OracleFailure)) throw error
      failures.push({ point, oracle: error.oracle, message: error.message })
      return undefined
    }
  }
  const from = await beginningOf(story)
  const free = await attempt(WITHOUT_FAULTS, async () => {
    const first = await runStory(story, from)
    const second = await runStory(story, from)
    if (first.traceHash !== second.traceHash) throw new OracleFailure('deterministic', 'two courses with the same seed differ')
    return first
  })
  if (free === undefined) return { says: 'it fails without any fault', failures }
  const all = pointsOf(target, free)
  const chosen = choose(all, free, only)
  let run = 0
  for (const { says, trouble } of chosen) {
    if (failures.length >= MOST_FAILURES) break
    run++
    await attempt(says, async () => compare(free, await runStory(story, from, trouble)))
  }
  return { says: `${run} of ${all.length} faults: ${tally(chosen.slice(0, run), all)}`, failures }
}

function choose(all: readonly Point[], free: StoryRun, only: string | undefined): Point[] {
  if (only !== undefined && only !== '' && only !== 'all') return all.filter((point) => point.says === only)
  const costMs = (60 + 1.5 * (free.revisions.to - free.revisions.from)) * free.clusters
  return only === 'all' ? [...all] : sample(all, Math.max(12, Math.floor(BUDGET_MS / costMs)))
}

function tally(run: readonly Point[], all: readonly Point[]): string {
  const kinds = [...new Set(all.map((point) => point.kind))]
  const count = (points: readonly Point[], kind: string): number => points.filter((point) => point.kind === kind).length
  return kinds.map((kind) => `${kind} ${count(run, kind)}/${count(all, kind)}`).join(', ')
}
