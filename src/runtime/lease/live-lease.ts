/** Whether another process holds a lease right now: before a module starts, its upstream controller must not be running. */

import type { Client } from '../../client/client.ts'
import { ifFound } from '../../client/errors.ts'
import { LEASES } from '../../kinds/kubernetes/resources.ts'
import type { Lease } from '../../kinds/kubernetes/types.ts'
import type { ObjectRef } from '../../kube/object-reference.ts'

/** The holder of a lease that has not expired, or undefined. By the lease's renewTime, with its duration again as tolerance. */
export async function liveHolder(client: Client, of: ObjectRef, nowMs: number): Promise<string | undefined> {
  const spec = (await ifFound(client.get<Lease>(LEASES, of)))?.spec
  const holder = spec?.holderIdentity ?? ''
  const renewedMs = Date.parse(spec?.renewTime ?? '')
  const lengthMs = (spec?.leaseDurationSeconds ?? 15) * 1000
  return holder !== '' && nowMs - renewedMs < 2 * lengthMs ? holder : undefined
}
