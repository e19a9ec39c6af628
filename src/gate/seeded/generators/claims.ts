/** Claims of both forms: for one workload that may not exist, or for those with a label; edited, deleted and made again. */
import type { Random } from '../../../base/random.ts'
import type { DataSourceClaimSpec } from '../../../kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS } from '../../../kinds/volcano/resources.ts'
import { ON_LOCALITY_CHANGE } from '../../../kinds/volcano/well-known.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { API_VERSION, MADE, MAKE, metadataOf, oneOf, REPORT, SALES, SELECTED, SYSTEM, TRAIN, TYPE, withoutNulls } from './drawing.ts'

interface Claimed {
  spec: DataSourceClaimSpec
  /** What happens when the data moves; null: what runs stays. */
  onMove: 'Move' | null
}

const NOBODY = { apiVersion: 'batch/v1', kind: 'Job', name: 'nobody' }

function drawClaim(random: Random): Claimed {
  const data = { system: SYSTEM, dataSourceType: TYPE }
  const onMove = random.next() < 0.2 ? ('Move' as const) : null
  if (random.next() < 0.7) {
    const workload = oneOf(random, [REPORT, REPORT, TRAIN, TRAIN, MAKE, NOBODY])
    const attributes: Record<string, string> = random.next() < 0.9 ? {} : { grain: 'day' }
    return { spec: { ...data, dataSourceName: oneOf(random, [SALES, MADE]), workload, attributes }, onMove }
  }
  const workloadSelector = { matchLabels: SELECTED }
  const more = oneOf(random, [{}, { attributesSelector: { matchLabels: { grain: 'day' } } }, { dataSourceName: 'sales-1' }])
  return { spec: { ...data, workloadSelector, ...more }, onMove }
}

const marksOf = ({ onMove }: Claimed): Record<string, string | null> => ({ [ON_LOCALITY_CHANGE]: onMove })

export const claims: Generator = {
  name: 'data source claim',
  resource: DATA_SOURCE_CLAIMS,
  names: ['default/sales', 'default/made', 'default/any'],
  draw: drawClaim,
  object: (where, desired): KubeObject => ({
    apiVersion: API_VERSION,
    kind: 'DataSourceClaim',
    metadata: { ...metadataOf(where), annotations: withoutNulls(marksOf(desired as Claimed)) },
    spec: (desired as Claimed).spec,
  }),
  change(object, desired) {
    object.metadata.annotations = withoutNulls({ ...object.metadata.annotations, ...marksOf(desired as Claimed) })
    object.spec = (desired as Claimed).spec
  },
}
