/** NodePorts: host ports are taken once per node, protocol and address. */
import { type Filter, rejection } from './filter.ts'

const NAME = 'NodePorts'
const REJECTION = rejection(NAME, "node(s) didn't have free ports for the requested pod ports", false)

export const nodePorts: Filter = {
  name: NAME,
  prepare: ({ ports }) =>
    ports.length === 0 ? undefined : { check: (node) => (ports.some((port) => node.hasPort(port)) ? REJECTION : undefined) },
  listens: ['node', 'pod-removed'],
  isHelpedBy(change, { ports }) {
    if (change.kind === 'node') return change.old === undefined
    if (change.kind !== 'pod' || change.now !== undefined) return false
    return (change.old?.ports ?? []).some((freed) => ports.some(({ protocol, port }) => protocol === freed.protocol && port === freed.port))
  },
}
