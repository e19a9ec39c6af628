/** Subsets of Endpoints in canonical form: ports that the same addresses offer in the same state share one. Pure. */
import type { EndpointAddress, EndpointSubset } from '../../kinds/kubernetes/types.ts'
import { groupedBy, type OfferedPort } from './service-pods.ts'

interface Offer {
  address: EndpointAddress
  isReady: boolean
}

/** The addresses that offer a port; without a port, all addresses. */
export interface PortOffers {
  port: OfferedPort | undefined
  /** By what distinguishes one address from another. */
  offers: Map<string, Offer>
}

export function joinedSubsets(byPort: Iterable<PortOffers>): EndpointSubset[] {
  const groups = groupedBy(byPort, ({ offers }) => JSON.stringify([...offers].map(([key, { isReady }]) => [key, isReady]).sort(byText)))
  return inOrder([...groups.values()].map((group) => subsetOf(group)))
}

function subsetOf(group: readonly PortOffers[]): EndpointSubset {
  const offers = [...(group[0]?.offers.values() ?? [])]
  const addresses = offers.filter(({ isReady }) => isReady).map(({ address }) => address)
  const notReadyAddresses = offers.filter(({ isReady }) => !isReady).map(({ address }) => address)
  const ports = group.flatMap(({ port }) => (port === undefined ? [] : [withoutEmptyName(port)]))
  return {
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
    ...(ports.length === 0 ? {} : { ports }),
  }
}

/** As the server stores it: an empty name is no name. */
function withoutEmptyName({ name, ...port }: OfferedPort): NonNullable<EndpointSubset['ports']>[number] {
  return name === '' ? port : { name, ...port }
}

/** Hand-written subsets, so that no address and port is in two of them; what is ready in one and not in another is not ready. */
export function repackedSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const byPort = new Map<string, PortOffers>()
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const offered = ports.map(({ name = '', port = 0, protocol = 'TCP', appProtocol }) =>
      appProtocol === undefined ? { name, port, protocol } : { name, port, protocol, appProtocol },
    )
    for (const port of offered.length === 0 ? [undefined] : offered) {
      const key = JSON.stringify(port ?? null)
      const { offers } = byPort.get(key) ?? { offers: new Map<string, Offer>() }
      byPort.set(key, { port, offers })
      for (const address of addresses) offer(offers, address, true)
      for (const address of notReadyAddresses) offer(offers, address, false)
    }
  }
  return joinedSubsets(byPort.values())
}

function offer(offers: Map<string, Offer>, address: EndpointAddress, isReady: boolean): void {
  const key = `${address.ip ?? ''} ${address.targetRef?.uid ?? ''}`
  const before = offers.get(key)
  offers.set(key, { address: before?.address ?? address, isReady: isReady && before?.isReady !== false })
}

/** A fixed order, so that equal subsets look equal. */
export function inOrder(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const keyOf = ({ ip, targetRef }: EndpointAddress): string => `${ip ?? ''} ${targetRef?.uid ?? ''}`
  const sorted = (addresses: EndpointAddress[] | undefined): EndpointAddress[] | undefined =>
    addresses === undefined ? undefined : [...addresses].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  return subsets
    .map(({ addresses, notReadyAddresses, ports }) => ({
      ...(addresses === undefined ? {} : { addresses: sorted(addresses) }),
      ...(notReadyAddresses === undefined ? {} : { notReadyAddresses: sorted(notReadyAddresses) }),
      ...(ports === undefined ? {} : { ports: [...ports].sort(byText) }),
    }))
    .sort((a, b) => byText([a.ports, a.addresses, a.notReadyAddresses], [b.ports, b.addresses, b.notReadyAddresses]))
}

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
