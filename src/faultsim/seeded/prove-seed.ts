/** One seed: run twice with the same result, judged, and compared with the straight run to the same desired state. */
import { differences } from '../prover/end-state.ts'
import type { Oracle } from '../prover/failure.ts'
import type { WorldSnapshot } from '../world/snapshot.ts'
import { generatorOf } from './apply-desired.ts'
import { type Figures, runScript, type ScriptRun } from './run-script.ts'
import { type Hit, lastDesired, type Script, scriptOf } from './script.ts'
import type { SeededWorld } from './seeded-world.ts'

export interface SeedResult {
  /** With every fault recorded. */
  script: Script
  failure?: { oracle: Oracle; message: string }
  hits: readonly Hit[]
  figures: Figures
}

export function proveSeed(seeded: SeededWorld, seed: number, from: WorldSnapshot): Promise<SeedResult> {
  return proveScript(seeded, scriptOf(seeded, seed), from)
}

export async function proveScript(seeded: SeededWorld, script: Script, from: WorldSnapshot): Promise<SeedResult> {
  const first = await runScript(seeded, script, from)
  const written: Script = { ...script, hits: first.hits }
  const failure = first.failure ?? (await compared(seeded, written, { first, from }))
  return { script: written, failure, hits: first.hits, figures: first.figures }
}

async function compared(
  seeded: SeededWorld,
  script: Script,
  { first, from }: { first: ScriptRun; from: WorldSnapshot },
): Promise<SeedResult['failure']> {
  const second = await runScript(seeded, script, from)
  if (first.traceHash !== second.traceHash)
    return { oracle: 'deterministic', message: 'the second run of the same script took another course' }
  if (!seeded.isPathless) return undefined
  const straight = await runScript(seeded, straightRun(seeded, script), from)
  if (straight.failure !== undefined) return straight.failure
  const wrong = differences(straight.end, first.end)
  return wrong.length === 0
    ? undefined
    : { oracle: 'same end state', message: `it differs from the straight way to the same wishes:\n  ${wrong.join('\n  ')}` }
}

/** Without detours and without faults. */
function straightRun(seeded: SeededWorld, script: Script): Script {
  const steps = lastDesired(script.steps)
    .filter((step) => step.desired !== null && generatorOf(seeded, step).fleetingMs === undefined)
    .map((step) => ({ ...step, pause: 0 as const }))
  return { ...script, steps, moments: [], hits: [] }
}
