/**
 * `npm run test:kube:gate`: the stories of the gate with real kube-apiservers as hub and members, twice: with our definitions
 * and with definitions shaped like volcano-global's, which lack half of the fields. At the end of each, nothing may be written
 * any more, after a restart of the controllers either. `-- --only TEXT` chooses by name; `-- --crds DIR` takes the definitions
 * of the second round from the files of a folder, such as volcano-global's own.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Client } from '../../src/client/client.ts'
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS, WORKS } from '../../src/kinds/karmada/resources.ts'
import { EVENTS } from '../../src/kinds/kubernetes/resources.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../src/kinds/volcano/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'
import { type Chosen, type Failed, playAll, storiesOf } from '../fleet/play-all.ts'
import { type RealFleet, type RealMembers, startRealFleet, startRealMembers } from '../fleet/real.ts'
import type { FleetStory } from '../fleet/story.ts'
import { AREAS } from '../gate/stories/index.ts'
import { definitionsIn, UPSTREAM_SHAPED } from '../gate/upstream-definitions.ts'
import { missingAssets } from '../machine/assets.ts'
import { type Cleanup, runProgram } from '../machine/interrupt.ts'

interface Round {
  /** Begins every title of the round. */
  name: string
  definitions: readonly KubeObject[]
  hasSeedForm: boolean
}

const QUIET = 'settled and quiet at the end'
const WRITTEN: readonly Resource[] = [RESOURCE_BINDINGS, CLUSTER_RESOURCE_BINDINGS, WORKS, DATA_SOURCE_CLAIMS, DATA_SOURCES, EVENTS]
const QUIET_MS = 3000
const SETTLED_WITHIN_MS = 60_000

await runProgram(async (later) => {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, crds: { type: 'string' } } })
  const missing = missingAssets(['kubectl'])
  if (missing !== undefined) {
    console.log(missing)
    return 1
  }
  const theirs = values.crds === undefined ? UPSTREAM_SHAPED : definitionsIn(values.crds)
  const rounds: Round[] = [
    { name: 'our definitions: ', definitions: [], hasSeedForm: true },
    { name: 'volcano-global definitions: ', definitions: theirs, hasSeedForm: false },
  ]
  const chosen = rounds.map((round) => ({ round, stories: chosenIn(round, values.only) })).filter(({ stories }) => stories.length > 0)
  const members = await startRealMembers(later)
  // Stories mostly wait: both rounds at once, each with a hub of its own, take little longer than one.
  const failed = (await Promise.all(chosen.map(({ round, stories }) => playRound({ round, stories, members, later })))).flat()
  for (const { title, why } of failed) console.log(`failed: ${title}\t${why}`)
  const all = chosen.reduce((sum, { stories }) => sum + stories.length + 1, 0)
  console.log(`${all - failed.length} passed, ${failed.length} failed`)
  return failed.length === 0 && all > 0 ? 0 : 1
})

/** Those that can be played; the others are named with the reason. Asked for the end alone, everything that comes before is played. */
function chosenIn({ name, hasSeedForm }: Round, only: string): Chosen[] {
  const all = storiesOf(AREAS, name)
  const chosen = `${name}${QUIET}`.includes(only) ? all : all.filter(({ title }) => title.includes(only))
  return chosen.filter(({ title, story }) => {
    const why = whyNot(story, hasSeedForm)
    if (why !== undefined) console.log(`skipped: ${title}: ${why}`)
    return why === undefined
  })
}

function whyNot({ needs }: FleetStory, hasSeedForm: boolean): string | undefined {
  if (needs === 'pods') return 'members here have no controllers and run no pods'
  if (needs === 'own members') return 'members here belong to two fleets'
  return needs === 'seed form' && !hasSeedForm ? 'these definitions have no selectors and no affinity' : undefined
}

interface Playing {
  round: Round
  stories: readonly Chosen[]
  members: RealMembers
  later: Cleanup
}

async function playRound({ round, stories, members, later }: Playing): Promise<Failed[]> {
  const { name, definitions } = round
  // Without a grant nothing is withheld, so that claims of all stories are told the same.
  const flags = ['--reference-consent', 'open']
  const fleet = await startRealFleet(later, { members, definitions, flags, isKept: true })
  const failed = await playAll(fleet, stories)
  const unrest = await unrestIn(fleet)
  console.log(unrest === undefined ? `ok   ${name}${QUIET}` : `FAIL ${name}${QUIET}\n${unrest}`)
  if (unrest !== undefined) failed.push({ title: `${name}${QUIET}`, why: unrest })
  if (failed.length > 0) console.log(`${name}the end of what the controllers said:\n${fleet.log().split('\n').slice(-40).join('\n')}`)
  return failed
}

/** What is written while nothing happens, as text. */
async function unrestIn({ setup }: RealFleet): Promise<string | undefined> {
  const before = await settled(setup.hub)
  if (before === undefined) return `something is written again and again`
  await setup.restart()
  await sleep(QUIET_MS)
  const restarted = difference(before, await versionsIn(setup.hub))
  return restarted === undefined ? undefined : `written after a restart: ${restarted}`
}

/** Undefined when it never comes to rest. */
async function settled(hub: Client): Promise<Map<string, string> | undefined> {
  const deadline = Date.now() + SETTLED_WITHIN_MS
  for (let before = await versionsIn(hub); Date.now() < deadline; ) {
    await sleep(QUIET_MS)
    const now = await versionsIn(hub)
    const changed = difference(before, now)
    if (changed === undefined) return now
    console.log(`still written: ${changed}`)
    before = now
  }
  return undefined
}

async function versionsIn(hub: Client): Promise<Map<string, string>> {
  const lists = await Promise.all(
    WRITTEN.map(async ({ kind, ...resource }) => ({ kind, items: (await hub.list({ kind, ...resource })).items })),
  )
  return new Map(
    lists.flatMap(({ kind, items }) =>
      items.map(({ metadata: { namespace = '', name, resourceVersion = '' } }) => [`${kind} ${namespace}/${name}`, resourceVersion]),
    ),
  )
}

const MOST_NAMED = 10

function difference(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string | undefined {
  const names = new Set([...before.keys(), ...after.keys()])
  const changed = [...names].filter((name) => before.get(name) !== after.get(name))
  return changed.length === 0 ? undefined : changed.slice(0, MOST_NAMED).join(', ')
}
