/**
 * `npm run test:parity`: every scenario on our minicluster in virtual time and on the real programs in real time; what they
 * noted must be equal. `--slow` adds those that take long there, `--only TEXT` (any number of them) picks by name, `--ours`
 * runs ours alone, `--kubeconfig FILE` takes real programs that already run (scripts/kube-assets/up --controllers --scheduler
 * --kwok 2 --stages …) instead of starting them.
 */
import { parseArgs } from 'node:util'
import { deepEqual } from '../../src/base/json.ts'
import { missingAssets } from '../machine/assets.ts'
import { runProgram } from '../machine/interrupt.ts'
import { playOurs } from './ours.ts'
import type { Note, Scenario } from './scenario.ts'
import { SCENARIOS } from './scenarios/index.ts'
import { startTheirs, type Theirs } from './theirs.ts'

type Played = { notes: Note[] } | { error: unknown }

const NOT_RUN: Played = { error: 'not run' }

const AT_ONCE = 6
/** The real programs race with each other: our result must be among theirs, so they get several attempts. */
const MOST_PLAYS = 3

async function play(run: () => Promise<Note[]>): Promise<Played> {
  try {
    return { notes: await run() }
  } catch (error) {
    return { error }
  }
}

/** No two runs on one server share a namespace. */
const namespaceOf = (scenario: Scenario, play = 0): string => `parity-${SCENARIOS.indexOf(scenario)}-${process.pid}${play}`

/** Those that share come first, several at a time, slow ones before others; those that must be alone one by one. */
async function playAll(theirs: Theirs, scenarios: readonly Scenario[]): Promise<Map<Scenario, Played>> {
  const played = new Map<Scenario, Played>()
  const shared = scenarios.filter((scenario) => !scenario.alone)
  const queue = [...shared.filter(({ slow }) => slow), ...shared.filter(({ slow }) => !slow)]
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const scenario = next
      played.set(scenario, await play(() => theirs.play(scenario, namespaceOf(scenario))))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  for (const scenario of scenarios.filter(({ alone }) => alone))
    played.set(scenario, await play(() => theirs.play(scenario, namespaceOf(scenario))))
  return played
}

interface Sides {
  theirs: Theirs
  ours: Played
  /** Their first run. */
  first: Played
}

async function judge(scenario: Scenario, { theirs, ours, first }: Sides): Promise<{ verdict: 'ok' | 'differs' | 'FAIL'; text: string }> {
  const { name, differs } = scenario
  let found = difference(ours, first)
  let plays = 1
  for (; found !== undefined && differs === undefined && plays < MOST_PLAYS; plays++)
    found = difference(ours, await play(() => theirs.play(scenario, namespaceOf(scenario, plays))))
  if (found === undefined && differs !== undefined)
    return { verdict: 'FAIL', text: `FAIL ${name}\n     is said to differ, and does not: ${differs}` }
  if (found === undefined) return { verdict: 'ok', text: `ok   ${name}${plays > 1 ? ` (at play ${plays} of theirs)` : ''}` }
  if (differs !== undefined) return { verdict: 'differs', text: `differs ${name}: ${differs}` }
  return { verdict: 'FAIL', text: `FAIL ${name}\n     ${found}` }
}

/** Undefined when both agree. */
function difference(ours: Played, theirs: Played): string | undefined {
  if ('error' in theirs) return `does not run on the real programs: ${textOf(theirs.error)}`
  if ('error' in ours) return `does not run on ours: ${textOf(ours.error)}`
  const found = theirs.notes.flatMap((note, i) => {
    const own = ours.notes[i]
    if (own === undefined || own.label !== note.label) return [`they note ${note.label}, we note ${own?.label}`]
    return deepEqual(own.facts, note.facts) ? [] : [`${note.label}\n${lineDifference(own.facts, note.facts)}`]
  })
  if (ours.notes.length > theirs.notes.length) found.push('we note more than they do')
  return found.length === 0 ? undefined : found.join('\n     ')
}

const textOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))

/** Lines that only one of them has: enough to see what differs. */
function lineDifference(ours: unknown, theirs: unknown): string {
  const lines = (value: unknown): string[] => (JSON.stringify(value, null, 2) ?? 'undefined').split('\n')
  const [a, b] = [lines(ours), lines(theirs)]
  const onlyIn = (these: string[], those: string[], sign: string): string[] => {
    const left = [...those]
    return these.flatMap((line, i) => {
      const at = left.indexOf(line)
      if (at < 0) return [`       ${sign} ${String(i + 1).padStart(3)} ${line}`]
      left.splice(at, 1)
      return []
    })
  }
  return [...onlyIn(a, b, 'ours  '), ...onlyIn(b, a, 'theirs')].slice(0, 60).join('\n')
}

await runProgram(async (later) => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [''] },
      kubeconfig: { type: 'string' },
      slow: { type: 'boolean', default: false },
      ours: { type: 'boolean', default: false },
    },
  })
  const chosen = SCENARIOS.filter((scenario) => values.only.some((text) => scenario.name.includes(text)) && (values.slow || !scenario.slow))
  const missing = values.ours ? undefined : missingAssets(['kubectl', 'kube-controller-manager', 'kube-scheduler', 'kwok'])
  if (missing !== undefined) {
    console.log(missing)
    return 1
  }
  const ours = new Map<Scenario, Played>()
  for (const scenario of chosen) ours.set(scenario, await play(() => playOurs(scenario, namespaceOf(scenario))))
  if (values.ours) {
    for (const [{ name }, result] of ours)
      console.log(`${'error' in result ? `FAIL ${name}\n     ${textOf(result.error)}` : `ok   ${name}: ${result.notes.length} notes`}`)
    return [...ours.values()].some((result) => 'error' in result) ? 1 : 0
  }
  const theirs = await startTheirs(values.kubeconfig)
  later(() => theirs.stop())
  const real = await playAll(theirs, chosen)
  const failed: string[] = []
  let known = 0
  for (const scenario of chosen) {
    const { verdict, text } = await judge(scenario, { theirs, ours: ours.get(scenario) ?? NOT_RUN, first: real.get(scenario) ?? NOT_RUN })
    if (verdict === 'FAIL') failed.push(scenario.name)
    if (verdict === 'differs') known++
    console.log(text)
  }
  const slow = SCENARIOS.filter((scenario) => scenario.slow).length
  console.log(`${known} known to differ${values.slow ? '' : `; ${slow} slow ones run with --slow`}`)
  for (const name of failed) console.log(`failed: ${name}`)
  console.log(`${chosen.length - failed.length} passed, ${failed.length} failed`)
  return failed.length === 0 && chosen.length > 0 ? 0 : 1
})
