/**
 * `npm run test:kube:data`: a sample of the stories of datasets on a real kube-apiserver with kube-controller-manager,
 * kube-scheduler and kwok, where no byte moves. At the end nothing may be written any more, after a restart of the controllers
 * either, and the generated rights must have been enough. `-- --only TEXT` chooses by name.
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { runtimeKinds } from '../../src/kinds/fluid/index.ts'
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIME_CLASSES, DATASETS } from '../../src/kinds/fluid/resources.ts'
import {
  CONFIG_MAPS,
  CONTROLLER_REVISIONS,
  DAEMON_SETS,
  EVENTS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  SECRETS,
  SERVICES,
} from '../../src/kinds/kubernetes/resources.ts'
import { type RealMember, startRealMember } from '../data/real.ts'
import { AREAS } from '../data/stories/index.ts'
import { playAtOnce } from '../fleet/play-all.ts'
import { CONTROL_PLANE, missingAssets } from '../machine/assets.ts'
import { runProgram } from '../machine/interrupt.ts'
import { LACKS_A_RIGHT } from './generated-rights.ts'
import { unrestIn } from './unrest.ts'

const AT_ONCE = 8
/** Where Kubernetes' own controllers do their work. */
const STAND_BACK = ['housekeeping', 'minicluster']

interface Chosen {
  title: string
  run(member: RealMember): Promise<void>
}

const SAMPLE: readonly Chosen[] = AREAS.flatMap(({ name: area, stories }) =>
  stories.flatMap((story) => (story.isSample === true ? [{ title: `${area}: ${story.name}`, story }] : [])),
).map(({ title, story }, i) => ({ title, run: (member) => member.play(story, `d${i + 1}x`) }))

/** Nodes report their own status all the time, and leases are renewed: neither is watched. */
const WATCHED: readonly string[] = [
  ...[DATASETS, CACHE_RUNTIME_CLASSES, ADVANCED_STATEFUL_SETS, ...runtimeKinds.map(({ resource }) => resource)],
  ...[DAEMON_SETS, CONTROLLER_REVISIONS, PODS, PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS, CONFIG_MAPS, SECRETS, SERVICES, EVENTS],
]
  .flatMap(({ plural }) => [plural, `${plural}/status`])
  .concat(NODES.plural)

const AT_THE_END: readonly Chosen[] = [
  {
    title: 'at the end: modules whose work is done already stood back',
    async run({ log }) {
      for (const module of STAND_BACK) assert.match(log(), new RegExp(`"module":"${module}"`))
    },
  },
  {
    title: 'at the end: settled and quiet, after a restart too',
    async run({ client, restart }) {
      assert.equal(await unrestIn({ client, restart, watched: WATCHED }), undefined)
    },
  },
  {
    title: 'at the end: the generated rights were enough for all of this',
    async run({ log }) {
      assert.doesNotMatch(log(), LACKS_A_RIGHT)
    },
  },
]

await runProgram(async (later) => {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
  const missing = missingAssets(['kubectl', ...CONTROL_PLANE])
  if (missing !== undefined) {
    console.log(missing)
    return 1
  }
  // Asked for the end alone, everything that comes before is played.
  const named = SAMPLE.filter(({ title }) => title.includes(values.only))
  const chosen = named.length > 0 ? named : SAMPLE
  const member = await startRealMember(later, chosen.length)
  const play = ({ run }: Chosen): Promise<void> => run(member)
  const failed = [...(await playAtOnce(play, chosen, AT_ONCE)), ...(await playAtOnce(play, AT_THE_END, 1))]
  if (failed.length > 0) console.log(`the end of what the controllers said:\n${member.log().split('\n').slice(-40).join('\n')}`)
  for (const { title, why } of failed) console.log(`failed: ${title}\t${why}`)
  const all = chosen.length + AT_THE_END.length
  console.log(`${all - failed.length} passed, ${failed.length} failed`)
  return failed.length === 0 ? 0 : 1
})
