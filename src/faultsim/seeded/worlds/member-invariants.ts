/** What holds in every cluster with workloads, whatever modules there are. */
import type { KubeObject } from '../../../kube/meta.ts'
import type { Invariant } from '../../../runtime/seams/seeded.ts'

const whereOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`

export const MEMBER_INVARIANTS: readonly Invariant[] = [
  {
    says: 'a volume belongs to one claim',
    about: ['persistentvolumeclaims'],
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
    about: ['pods', 'nodes'],
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
