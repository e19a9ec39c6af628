/** `npm run prove:faults`: seeds over a world under faults, or every enumerated fault, or the planted bugs. Exit code 1 when something is found. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { PLANTED_IN_DATA } from '../../src/faultsim/planted/data/index.ts'
import { provePlanted, worldWith } from '../../src/faultsim/planted/data/planted.ts'
import { PLANTED } from '../../src/faultsim/planted/index.ts'
import { proveScript, proveSeed, type SeedResult } from '../../src/faultsim/seeded/prove-seed.ts'
import { beginningOf } from '../../src/faultsim/seeded/run-script.ts'
import type { Script } from '../../src/faultsim/seeded/script.ts'
import type { SeededWorld } from '../../src/faultsim/seeded/seeded-world.ts'
import { shrink } from '../../src/faultsim/seeded/shrink.ts'
import { composedWorld } from '../../src/faultsim/seeded/worlds/composed.ts'
import { memberWorld } from '../../src/faultsim/seeded/worlds/member.ts'
import { referenceWorld } from '../../src/faultsim/seeded/worlds/reference.ts'
import type { WorldSnapshot } from '../../src/faultsim/world/snapshot.ts'
import { createCoverage } from './coverage.ts'
import { type ProofOptions, proofOptions } from './options.ts'

const SEEDS = 'test/faultsim/seeds'
const PROGRESS_SECONDS = 20
const MOST_FAILURES = 5

const options = proofOptions(process.argv.slice(2))
if (options.enumerate) process.exitCode = enumerate()
else if (options.planted) process.exitCode = await findPlanted(options)
else if (options.replay !== undefined) process.exitCode = await replay(options.replay)
else process.exitCode = await proveSeeds(options)

function worldOf(name: string): SeededWorld {
  return name === 'reference' ? referenceWorld() : name === 'member' ? memberWorld() : composedWorld()
}

async function proveSeeds({ from: first, to: last, world: name }: ProofOptions): Promise<number> {
  const world = worldOf(name)
  const from = await beginningOf(world)
  const coverage = createCoverage()
  const began = process.hrtime.bigint()
  const seconds = (): number => Number(process.hrtime.bigint() - began) / 1e9
  let failures = 0
  let reported = 0
  for (let seed = first; seed <= last && failures < MOST_FAILURES; seed++) {
    const result = await proveSeed(world, seed, from)
    coverage.add(result)
    if (result.failure !== undefined) {
      failures++
      await report(world, from, result)
    }
    if (seconds() - reported < PROGRESS_SECONDS) continue
    reported = seconds()
    console.log(
      `seed ${seed} of ${first}..${last}, ${failures} failed, ${((seed - first + 1) / (reported / 60)).toFixed(0)} seeds per minute`,
    )
  }
  for (const line of coverage.report(seconds())) console.log(line)
  console.log(`seeds ${first}..${last} of the ${name} world: ${failures === 0 ? 'no failure' : `${failures} failed`}`)
  return failures === 0 ? 0 : 1
}

/** Shrinks a failing script and keeps it, so that it is run in every later test. */
async function report(world: SeededWorld, from: WorldSnapshot, { script, failure }: SeedResult): Promise<void> {
  if (failure === undefined) return
  console.log(`seed ${script.seed} fails: ${failure.message}`)
  const judge = async (candidate: Script) => (await proveScript(world, candidate, from)).failure?.oracle
  const small = await shrink(script, failure.oracle, judge)
  mkdirSync(SEEDS, { recursive: true })
  const file = path.join(SEEDS, `${world.name}-${script.seed}.json`)
  writeFileSync(file, `${JSON.stringify(small, undefined, 2)}\n`)
  const { steps, moments, hits = [] } = small
  console.log(
    `shrunk to ${steps.length} steps, ${moments.length} moments and ${hits.length} faults; again with: npm run prove:faults -- --replay ${file}`,
  )
}

async function replay(file: string): Promise<number> {
  const script = JSON.parse(readFileSync(file, 'utf8')) as Script
  const world = worldOf(script.world)
  const { failure } = await proveScript(world, script, await beginningOf(world))
  console.log(failure === undefined ? `${file} passes` : failure.message)
  return failure === undefined ? 0 : 1
}

interface ToBeFound {
  name: string
  caughtBy: string
  prove(seed: number): Promise<SeedResult>
}

async function findPlanted({ to }: ProofOptions): Promise<number> {
  const [reference, member] = [await beginningOf(referenceWorld()), await beginningOf(memberWorld())]
  const all: ToBeFound[] = [
    ...PLANTED.map(({ name, caughtBy, cast }) => ({
      ...{ name, caughtBy },
      prove: (seed: number) => proveSeed(referenceWorld(cast), seed, reference),
    })),
    ...PLANTED_IN_DATA.map((planted) => ({
      ...{ name: planted.name, caughtBy: planted.caughtBy },
      prove: (seed: number) => provePlanted(planted, { world: worldWith(planted), seed, from: member }),
    })),
  ]
  let missed = 0
  for (const { name, caughtBy, prove } of all) {
    let seed = 1
    let found: SeedResult['failure']
    for (; seed <= to && found === undefined; seed++) found = (await prove(seed)).failure
    if (found?.oracle !== caughtBy) missed++
    console.log(
      found === undefined
        ? `${name}: NOT FOUND`
        : `${name}: seed ${seed - 1}, ${found.oracle}${found.oracle === caughtBy ? '' : ` instead of ${caughtBy}`}`,
    )
  }
  console.log(`${all.length - missed} passed, ${missed} failed`)
  return missed === 0 ? 0 : 1
}

/** The `survives` lines of all tests, with every fault instead of a sample. */
function enumerate(): number {
  const files = ['src', 'test'].flatMap(testsBelow).filter((file) => /\bsurvives\(/.test(readFileSync(file, 'utf8')))
  const args = ['scripts/unit.mjs', ...files, '--', '--test-name-pattern', 'survives']
  return spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, SURVIVES: 'all' } }).status ?? 1
}

function testsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name)
    return entry.isDirectory() ? testsBelow(full) : entry.name.endsWith('.test.ts') ? [full] : []
  })
}
