/** The whole: a hub and three members with all their controllers and simulated nodes, and people at work in all of them. */
import type { KubeObject } from '../../../kube/meta.ts'
import type { Invariant } from '../../prover/ledger.ts'
import { GENERATORS } from '../generators/index.ts'
import type { Generator, SeededWorld } from '../seeded-world.ts'

const MEMBERS = ['member1', 'member2', 'member3']
/** The hub has housekeeping only: nothing there makes a workload run. */
const IN_HUB = new Set(['namespace'])

const whereOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`

const INVARIANTS: readonly Invariant[] = [
  {
    says: 'a volume belongs to one claim',
    broken(objects) {
      const owners = new Map<string, string>()
      for (const claim of objects.list('persistentvolumeclaims')) {
        const { volumeName } = (claim.spec ?? {}) as { volumeName?: string }
        if (volumeName === undefined) continue
        const other = owners.get(volumeName)
        if (other !== undefined) return `${volumeName} is claimed by ${other} and ${whereOf(claim)}`
        owners.set(volumeName, whereOf(claim))
      }
      return undefined
    },
  },
  {
    says: 'a pod stays on its node',
    broken(objects) {
      const nodes = new Set(objects.list('nodes').map((node) => node.metadata.name))
      const lost = objects.list('pods').find((pod) => {
        const { nodeName } = (pod.spec ?? {}) as { nodeName?: string }
        return nodeName !== undefined && nodeName !== '' && !nodes.has(nodeName)
      })
      return lost === undefined ? undefined : whereOf(lost)
    },
  },
]

export function composedWorld(): SeededWorld {
  const generators = GENERATORS.map(
    (generator): Generator => ({ ...generator, isFor: (cluster) => cluster !== 'hub' || IN_HUB.has(generator.name) }),
  )
  return {
    name: 'composed',
    options: { members: MEMBERS.length, nodes: 2 },
    clusters: ['hub', ...MEMBERS],
    before: [],
    generators,
    invariants: INVARIANTS,
    isPathless: false,
  }
}
