/**
 * Workloads that need data, by naming claims, by a label, or because a claim names them; and one that makes data, which may
 * need data itself, even its own.
 */
import type { Random } from '../../../base/random.ts'
import { DEPLOYMENTS, JOBS } from '../../../kinds/kubernetes/resources.ts'
import { CLAIMS_ANNOTATION, PRODUCES_ANNOTATION } from '../../../kinds/volcano/well-known.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { MADE, MAKE, metadataOf, oneOf, REPORT, SALES, SELECTED, SYSTEM, TRAIN, TYPE, withoutNulls } from './drawing.ts'

interface Needing {
  /** The claims that it names; null: none. */
  claims: string | null
  /** The data that it makes; null: none. */
  produces: string | null
  isSelected: boolean
  replicas: number
}

const CLAIMS = [null, null, 'sales', 'sales', 'made', 'sales,made', 'any']

const drawNeeding = (random: Random): Needing => ({
  claims: oneOf(random, CLAIMS),
  produces: null,
  isSelected: random.next() < 0.3,
  replicas: 1 + Math.floor(random.next() * 3),
})

const drawMaking = (random: Random): Needing => ({
  claims: oneOf(random, [null, null, 'sales', 'made']),
  produces: `${SYSTEM}/${TYPE}/${random.next() < 0.85 ? MADE : SALES}`,
  isSelected: false,
  replicas: 1,
})

const annotationsOf = ({ claims, produces }: Needing): Record<string, string | null> => ({
  [CLAIMS_ANNOTATION]: claims,
  [PRODUCES_ANNOTATION]: produces,
})

const labelsOf = ({ isSelected }: Needing): Record<string, string | null> =>
  Object.fromEntries(Object.entries(SELECTED).map(([key, value]) => [key, isSelected ? value : null]))

function marked(metadata: KubeObject['metadata'], desired: Needing): KubeObject['metadata'] {
  return {
    ...metadata,
    labels: withoutNulls({ ...metadata.labels, ...labelsOf(desired) }),
    annotations: withoutNulls({ ...metadata.annotations, ...annotationsOf(desired) }),
  }
}

const podOf = (app: string, image: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'app', image, resources: { requests: { cpu: '100m', memory: '64Mi' } } }], ...more },
})

export const reportOf = (desired: Needing): KubeObject => ({
  apiVersion: REPORT.apiVersion,
  kind: REPORT.kind,
  metadata: marked({ namespace: 'default', name: REPORT.name }, desired),
  spec: { replicas: desired.replicas, selector: { matchLabels: { app: REPORT.name } }, template: podOf(REPORT.name, 'app:1') },
})

const report: Generator = {
  name: 'deployment that needs data',
  resource: DEPLOYMENTS,
  names: ['default/report'],
  draw: drawNeeding,
  object: (_where, desired) => reportOf(desired as Needing),
  change(object, desired) {
    object.metadata = marked(object.metadata, desired as Needing)
    object.spec = { ...(object.spec as object), replicas: (desired as Needing).replicas }
  },
}

const aJob = ({ apiVersion, kind, name }: typeof TRAIN, draw: (random: Random) => Needing, what: string): Generator => ({
  name: what,
  resource: JOBS,
  names: [`default/${name}`],
  draw,
  object: (where, desired): KubeObject => ({
    apiVersion,
    kind,
    metadata: marked(metadataOf(where), desired as Needing),
    spec: { parallelism: (desired as Needing).replicas, template: podOf(name, 'work:1', { restartPolicy: 'Never' }) },
  }),
  // The other fields are immutable.
  change(object, desired) {
    object.metadata = marked(object.metadata, desired as Needing)
    object.spec = { ...(object.spec as object), parallelism: (desired as Needing).replicas }
  },
})

export const workloads: readonly Generator[] = [
  report,
  aJob(TRAIN, drawNeeding, 'job that needs data'),
  aJob(MAKE, drawMaking, 'job that makes data'),
]
