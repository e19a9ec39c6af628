/**
 * A real kube-apiserver with Kubernetes' own controllers, its scheduler and nodes that run any pod, and `sluice controllers
 * --role member` with the generated rights, as users run it: datasets are ours there, everything else is Kubernetes'.
 */
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/client/client.ts'
import { ifFound } from '../../src/client/errors.ts'
import { CONFIG_MAPS, NAMESPACES, NODES, SERVICE_ACCOUNTS } from '../../src/kinds/kubernetes/resources.ts'
import type { Node } from '../../src/kinds/kubernetes/types.ts'
import { clientOf } from '../fleet/real.ts'
import { superviseControllers } from '../fleet/supervised.ts'
import { withGeneratedRights } from '../kube/generated-rights.ts'
import type { Cleanup } from '../machine/interrupt.ts'
import { privateProgram } from '../machine/program.ts'
import { startRealServer } from '../machine/real-server.ts'
import type { DataTestbed, SampleStory } from './story.ts'
import { type DataTestbedDeps, STORY_LABEL, testbedOn } from './testbed.ts'

export interface RealMember {
  client: Client
  /** What stories make stays. */
  play(story: SampleStory, mark: string): Promise<void>
  restart(): Promise<void>
  /** Of the controllers, whole. */
  log(): string
}

const NODES_PER_STORY = 3
const STEADY_MS = 1000
const READY_WITHIN_S = 120

/** With nodes for that many stories. */
export async function startRealMember(later: Cleanup, stories: number): Promise<RealMember> {
  const program = await privateProgram()
  later(async () => program.remove())
  const server = await startRealServer(
    ...['--controllers', '--scheduler', '--kwok', String(stories * NODES_PER_STORY)],
    ...['--arg', 'kube-controller-manager=--leader-elect=true'],
  )
  later(() => server.stop())
  const client = clientOf(server.kubeconfig)
  later(() => client.close())
  const args = [program.file, 'controllers', '--log-format', 'json', '--role', 'member', '--kubeconfig', await withGeneratedRights(server)]
  const controllers = superviseControllers(args, path.join(server.folder, 'controllers.log'), later)
  const runs = (): number => controllers.log().split('"controllers run"').length - 1
  await controllers.waitUntil('controllers run', () => runs() > 0, READY_WITHIN_S)
  const free: string[] = []
  await controllers.waitUntil(
    'every node is ready',
    async () => {
      const { items } = await client.list(NODES)
      free.splice(0, free.length, ...(items as Node[]).filter(isReady).map(({ metadata }) => metadata.name ?? ''))
      return free.length === stories * NODES_PER_STORY
    },
    READY_WITHIN_S,
  )
  return {
    client,
    log: controllers.log,
    async restart() {
      const before = runs()
      await controllers.restart()
      await controllers.waitUntil('controllers run again', () => runs() > before, READY_WITHIN_S)
    },
    async play(story, mark) {
      controllers.assertAlive()
      const nodes = await nodesFor(client, free, mark)
      const namespace = await namespaceFor(client, mark)
      const { testbed } = testbedOn({ ...DEPS, client, nodes, namespace, mark })
      await story.begin?.make(testbed)
      await story.run(testbed)
    },
  }
}

const DEPS: Pick<DataTestbedDeps, 'inside' | 'nowMs' | 'pass' | 'settle' | 'lookEveryMs' | 'patienceMs'> = {
  inside: (work) => work(),
  nowMs: () => Date.now(),
  pass: (ms) => sleep(ms),
  lookEveryMs: 250,
  patienceMs: 120_000,
  async settle(versions) {
    for (let before = ''; ; ) {
      const now = await versions()
      if (now === before) return
      before = now
      await sleep(STEADY_MS)
    }
  },
}

const isReady = ({ status, spec }: Node): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true && (spec?.taints ?? []).length === 0

async function nodesFor(client: Client, free: string[], mark: string): Promise<DataTestbed['nodes']> {
  const [a, b, c] = free.splice(0, NODES_PER_STORY).sort()
  if (a === undefined || b === undefined || c === undefined) throw new Error('there are not enough nodes')
  for (const name of [a, b, c])
    await client.patch(NODES, { name }, { type: 'merge', body: { metadata: { labels: { [STORY_LABEL]: mark } } } })
  return [a, b, c]
}

/** With what every namespace gets a little later, and pods need. */
async function namespaceFor(client: Client, mark: string): Promise<string> {
  const namespace = `story-${mark}`
  await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const isThere = async (): Promise<boolean> =>
    (await ifFound(client.get(SERVICE_ACCOUNTS, { namespace, name: 'default' }))) !== undefined &&
    (await ifFound(client.get(CONFIG_MAPS, { namespace, name: 'kube-root-ca.crt' }))) !== undefined
  while (!(await isThere())) await sleep(DEPS.lookEveryMs)
  return namespace
}
