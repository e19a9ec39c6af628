/**
 * Distributes endpoints over slices. What is already in a slice stays there, so one changed pod rewrites one slice; new ones
 * fill slices that change anyway, then the fullest that can take all of them, then new slices. Pure and stable: the
 * same input gives the same packing, and a packing that is already right is left alone.
 */
import { deepEqual } from '../../../base/json.ts'
import type { EndpointSlice, SliceEndpoint } from '../../../kinds/kubernetes/types.ts'

export interface Packing {
  /** Slices whose endpoints change, with their new ones. */
  update: { slice: EndpointSlice; endpoints: SliceEndpoint[] }[]
  keep: EndpointSlice[]
  /** Slices that end up empty. */
  remove: EndpointSlice[]
  /** Endpoints of new slices. */
  create: SliceEndpoint[][]
}

type Filling = Packing['update'][number]

/** `existing` are slices of the same ports and addresses, in a stable order; `desired` has every endpoint once. */
export function packEndpoints(existing: readonly EndpointSlice[], desired: readonly SliceEndpoint[], max: number): Packing {
  const left = new Map(desired.map((endpoint) => [identityOf(endpoint), endpoint]))
  const update: Filling[] = []
  const keep: EndpointSlice[] = []
  const remove: EndpointSlice[] = []
  for (const slice of existing) {
    const held = slice.endpoints ?? []
    const endpoints: SliceEndpoint[] = []
    for (const endpoint of held) {
      const wanted = left.get(identityOf(endpoint))
      if (wanted === undefined) continue
      left.delete(identityOf(endpoint))
      endpoints.push(wanted)
    }
    if (endpoints.length === 0) remove.push(slice)
    else if (endpoints.length === held.length && deepEqual(endpoints, held)) keep.push(slice)
    else update.push({ slice, endpoints })
  }
  const rest = [...left.values()]
  for (const filling of [...update].sort((a, b) => b.endpoints.length - a.endpoints.length))
    filling.endpoints.push(...rest.splice(0, Math.max(0, max - filling.endpoints.length)))
  return place(rest, { update, keep, remove, create: [] }, max)
}

/** Places what fits into no changed slice: in one slice that can take all of it, otherwise in new ones. */
function place(rest: SliceEndpoint[], packing: Packing, max: number): Packing {
  while (rest.length > 0) {
    const roomy = rest.length < max ? roomiest(packing.keep, rest.length, max) : undefined
    if (roomy === undefined) {
      packing.create.push(rest.splice(0, max))
      continue
    }
    packing.keep = packing.keep.filter((slice) => slice !== roomy)
    packing.update.push({ slice: roomy, endpoints: [...(roomy.endpoints ?? []), ...rest.splice(0)] })
  }
  return packing
}

/** The slice that would be fullest afterwards. */
function roomiest(slices: readonly EndpointSlice[], count: number, max: number): EndpointSlice | undefined {
  const sizeOf = (slice: EndpointSlice): number => slice.endpoints?.length ?? 0
  return slices.filter((slice) => sizeOf(slice) + count <= max).sort((a, b) => sizeOf(b) - sizeOf(a))[0]
}

/** What identifies an endpoint while its readiness or location changes. */
export const identityOf = ({ addresses, hostname, targetRef }: SliceEndpoint): string =>
  JSON.stringify([[...(addresses ?? [])].sort(), hostname ?? '', targetRef?.namespace ?? '', targetRef?.name ?? ''])
