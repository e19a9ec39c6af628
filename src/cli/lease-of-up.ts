/**
 * `up` runs the controllers of its own clusters: a lease that never expires tells this to any `sluice controllers` pointed
 * at them. The server only lives while `up` does, so the lease is true whenever it can be read. A bare start removes it,
 * because controllers then come from outside.
 */

import type { Clock } from '../base/clock.ts'
import { formatTime } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import { createClient } from '../client/client.ts'
import { ifFound } from '../client/errors.ts'
import type { Transport } from '../client/transport.ts'
import type { ClusterRole } from '../composition.ts'
import { LEASES } from '../kinds/kubernetes/resources.ts'
import type { Lease } from '../kinds/kubernetes/types.ts'
import type { ObjectRef } from '../kube/object-reference.ts'

const HOLDER = 'sluice up'
const FOR_EVER_SECONDS = 2 ** 31 - 1

export const leaseOf = (role: ClusterRole): ObjectRef => ({ namespace: 'kube-system', name: `sluice-${role}` })

export interface LeaseOfUp {
  role: ClusterRole
  isBare: boolean
  transport: Transport
  clock: Clock
  random: Random
}

export async function settleLease({ role, isBare, transport, clock, random }: LeaseOfUp): Promise<void> {
  const client = createClient({ transport, clock, random, userAgent: 'sluice/up' })
  const where = leaseOf(role)
  const held = await ifFound(client.get<Lease>(LEASES, where))
  const isOurs = held?.spec?.holderIdentity === HOLDER
  if (isBare) {
    if (isOurs) await client.delete(LEASES, where)
    return
  }
  if (isOurs) return
  const spec = {
    holderIdentity: HOLDER,
    leaseDurationSeconds: FOR_EVER_SECONDS,
    renewTime: `${formatTime(clock.now()).slice(0, -1)}.000000Z`,
  }
  if (held === undefined)
    await client.create(LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: where, spec } satisfies Lease)
  else await client.update(LEASES, { ...held, spec })
}
