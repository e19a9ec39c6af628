/** The table of clusters on our own server: columns of a definition cannot join zones or show Unknown. */
import { findCondition } from '../../kube/conditions.ts'
import type { Column, TablePrinter } from '../kind.ts'
import { ageOf, at, list, nameOf, text, texts } from '../kubernetes/printers/fields.ts'
import { CLUSTER_READY } from './well-known.ts'

const column = (name: string, description: string, more: Partial<Column> = {}): Column => ({ name, type: 'string', description, ...more })
const wide = { priority: 1 }
const NONE = '<none>'

export const clusterTable: TablePrinter = {
  columns: [
    column('Name', 'The name of the cluster.', { format: 'name' }),
    column('Version', 'The version of its API server.'),
    column('Mode', 'Whether it is written to from here (Push), or fetches what it is given (Pull).'),
    column('Ready', 'Whether it can be reached and is healthy.'),
    column('Age', 'How long it has been a member.', { type: 'date' }),
    column('Zones', 'The zones it stands in.', wide),
    column('Region', 'The region it stands in.', wide),
    column('Provider', 'Whose cluster it is.', wide),
    column('API-Endpoint', 'The address of its API server.', wide),
    column('Proxy-URL', 'The proxy on the way to it.', wide),
  ],
  row(cluster, nowMs) {
    const { spec, status } = cluster
    const conditions = list(at(status, 'conditions')).filter((one): one is { type: string } => typeof at(one, 'type') === 'string')
    return {
      cells: [
        nameOf(cluster),
        text(at(status, 'kubernetesVersion')),
        text(at(spec, 'syncMode')),
        text(at(findCondition(conditions, CLUSTER_READY), 'status'), 'Unknown'),
        ageOf(cluster, nowMs),
        texts(at(spec, 'zones')).join(',') || NONE,
        text(at(spec, 'region'), NONE),
        text(at(spec, 'provider'), NONE),
        text(at(spec, 'apiEndpoint')),
        text(at(spec, 'proxyURL'), NONE),
      ],
    }
  },
}
