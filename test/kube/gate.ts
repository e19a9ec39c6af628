/**
 * `npm run test:kube:gate`: the stories of the gate with real kube-apiservers as hub and members, twice: with our definitions
 * and with definitions shaped like volcano-global's, which lack half of the fields. At the end of each, nothing may be written
 * any more, after a restart of the controllers either. `-- --only TEXT` chooses by name; `-- --crds DIR` takes the definitions
 * of the second round from the files of a folder, such as volcano-global's own.
 */
import { parseArgs } from 'node:util'
import { RESOURCE_BINDINGS, WORKS } from '../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS, EVENTS, JOBS } from '../../src/kinds/kubernetes/resources.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../src/kinds/volcano/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { type Chosen, type Failed, playAll, storiesOf } from '../fleet/play-all.ts'
import { type RealMembers, startRealFleet, startRealMembers } from '../fleet/real.ts'
import type { FleetStory } from '../fleet/story.ts'
import { AREAS } from '../gate/stories/index.ts'
import { definitionsIn, UPSTREAM_SHAPED } from '../gate/upstream-definitions.ts'
import { missingAssets } from '../machine/assets.ts'
import { type Cleanup, runProgram } from '../machine/interrupt.ts'
import { unrestIn } from './unrest.ts'

interface Round {
  /** Begins every title of the round. */
  name: string
  definitions: readonly KubeObject[]
  hasSeedForm: boolean
}

const QUIET = 'settled and quiet at the end'
/** Not leases and the status of clusters, which are renewed all the time. */
const WATCHED: readonly string[] = [DATA_SOURCE_CLAIMS, DATA_SOURCES, RESOURCE_BINDINGS, WORKS, EVENTS, DEPLOYMENTS, JOBS].flatMap(
  ({ plural }) => [plural, `${plural}/status`],
)

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
  const { hub, restart } = fleet.setup
  const unrest = await unrestIn({ client: hub, restart, watched: WATCHED })
  console.log(unrest === undefined ? `ok   ${name}${QUIET}` : `FAIL ${name}${QUIET}\n${unrest}`)
  if (unrest !== undefined) failed.push({ title: `${name}${QUIET}`, why: unrest })
  if (failed.length > 0) console.log(`${name}the end of what the controllers said:\n${fleet.log().split('\n').slice(-40).join('\n')}`)
  return failed
}
