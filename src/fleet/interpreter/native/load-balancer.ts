/** Addresses of load balancers, for Services and Ingresses: those of all members, each once, in a fixed order. */
import { deepEqual } from '../../../base/json.ts'
import type { AggregatedStatusItem } from '../../../kinds/karmada/index.ts'
import { type Fields, fieldsAt, listAt, numberAt, textAt } from '../../../kube/fields.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { memberStatuses, withStatus } from './status.ts'

export function aggregateAddresses(template: KubeObject, items: readonly AggregatedStatusItem[]): KubeObject {
  const entries = memberStatuses(items).flatMap(({ status }) => listAt(status, 'loadBalancer', 'ingress'))
  const ingress = distinct(entries)
  const old = listAt(template, 'status', 'loadBalancer', 'ingress')
  // A server fills in the mode of an address; that does not count as a difference.
  const isSame = deepEqual(old.map(withMode), ingress.map(withMode))
  const loadBalancer = isSame ? fieldsAt(template, 'status', 'loadBalancer') : ingress.length === 0 ? {} : { ingress }
  return withStatus(template, { loadBalancer })
}

export const hasAddress = (object: KubeObject): boolean =>
  listAt(object, 'status', 'loadBalancer', 'ingress').some((entry) => text(entry, 'ip') !== '' || text(entry, 'hostname') !== '')

const text = (entry: Fields, field: string): string => textAt(entry, field) ?? ''

const withMode = (entry: Fields): Fields => (text(entry, 'ip') !== '' && entry.ipMode === undefined ? { ...entry, ipMode: 'VIP' } : entry)

/** Entries for the same address become one, with the ports of all. */
function distinct(entries: readonly Fields[]): Fields[] {
  const groups = new Map<string, Fields[]>()
  for (const entry of entries) {
    const key = JSON.stringify([text(entry, 'hostname'), text(entry, 'ip'), text(entry, 'ipMode')])
    groups.set(key, [...(groups.get(key) ?? []), entry])
  }
  return [...groups.values()].map(united).sort(compareEntries)
}

function united(entries: readonly Fields[]): Fields {
  const { ports: _, ...address } = entries[0] ?? {}
  const ports = new Map(entries.flatMap((entry) => listAt(entry, 'ports')).map((port) => [portKey(port), port]))
  const sorted = [...ports.values()].sort(comparePorts)
  return sorted.length === 0 ? address : { ...address, ports: sorted }
}

const portKey = (port: Fields): string => JSON.stringify([port.port, port.protocol, port.error ?? null])

const comparePorts = (a: Fields, b: Fields): number =>
  (numberAt(a, 'port') ?? 0) - (numberAt(b, 'port') ?? 0) ||
  compareStrings(text(a, 'protocol'), text(b, 'protocol')) ||
  compareStrings(text(a, 'error'), text(b, 'error'))

/** Hostnames come before bare addresses, and entries without a mode last. */
const compareEntries = (a: Fields, b: Fields): number =>
  compareEmptyLast(text(a, 'hostname'), text(b, 'hostname')) ||
  compareStrings(text(a, 'ip'), text(b, 'ip')) ||
  compareEmptyLast(text(a, 'ipMode'), text(b, 'ipMode'))

const compareEmptyLast = (a: string, b: string): number => Number(a === '') - Number(b === '') || compareStrings(a, b)
