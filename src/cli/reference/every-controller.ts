/** All controllers of a role as declarations, for documents and access rules: nothing of them runs. */
import { NOTHING } from '../../client/cache/nothing.ts'
import { type ClusterRole, ownAdmissionOf, type Room, roomsOf } from '../../controllers.ts'
import { fleetInWords } from '../../fleet/ground.ts'
import type { Admission } from '../../kinds/admission.ts'
import { DEFAULT_NODES, memberShape } from '../member-nodes.ts'

/** `hasProcessNodes`: with those that only `up` runs, because they need a machine under them. */
export function roomsInWords(role: ClusterRole, hasProcessNodes: boolean): Room[] {
  const machine = { hardware: { cpus: 8, memoryBytes: 32 * 1024 ** 3 } }
  const shape = memberShape(machine, DEFAULT_NODES, { name: 'member1', index: 1, members: 3 })
  const kubelet = hasProcessNodes ? ({ machine: {}, clock: {} } as never) : undefined
  return roomsOf(role, { authority: () => '', member: { shape, kubelet }, everything: NOTHING, fleet: fleetInWords() })
}

/** The admission of a role that Kubernetes does not bring, as declarations. */
export const admissionInWords = (role: ClusterRole): readonly Admission[] =>
  ownAdmissionOf(role, { hasProcessNodes: false, isMapped: () => false, resolves: () => false })
