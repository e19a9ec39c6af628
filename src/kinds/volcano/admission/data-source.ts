/** Admission of DataSource: refuses what cannot be matched or placed, and warns of clusters that do not exist (yet). */
import { type Admission, type AdmissionReader, defineAdmission } from '../../admission.ts'
import { CLUSTERS } from '../../karmada/resources.ts'
import { quoted } from '../annotations.ts'
import type { DataSource, DataSourceLocality } from '../index.ts'
import { DATA_DEPENDENCY_GROUP } from '../well-known.ts'
import { dataSourceErrors, meansEveryCluster } from './data-source-rules.ts'
import { withNewSpec } from './judged.ts'

export const dataSourceAdmission: Admission = defineAdmission({
  name: 'DataSource',
  about: 'Refuses sources without system, type, name or locality, and selectors that cannot be read; warns of clusters that do not exist.',
  resources: [{ group: DATA_DEPENDENCY_GROUP, resource: 'datasources' }],
  operations: ['CREATE', 'UPDATE'],
  reads: [CLUSTERS],
  validate(request, { read, warn }) {
    const source = withNewSpec(request) as DataSource | undefined
    if (source === undefined) return undefined
    const errors = dataSourceErrors(source.spec)
    if (errors.length === 0) for (const warning of localityWarnings(source.spec.locality, read)) warn(warning)
    return errors
  },
})

/** Warnings are cut off at 256 characters. */
const SHOWN = 3

function localityWarnings(locality: DataSourceLocality, read: AdmissionReader): string[] {
  const { clusterNames = [], clusterAffinity } = locality
  if (meansEveryCluster(locality)) return ['spec.locality.clusterAffinity is empty: every cluster counts as having the data']
  const named = new Set([...clusterNames, ...(clusterAffinity?.clusterNames ?? [])])
  const unknown = [...named].filter((name) => read.get({ group: CLUSTERS.group, resource: CLUSTERS.plural }, '', name) === undefined)
  if (unknown.length === 0) return []
  const shown = unknown.slice(0, SHOWN).map((name) => quoted(name.slice(0, 48)))
  const more = unknown.length > SHOWN ? ` and ${unknown.length - SHOWN} more` : ''
  return [`spec.locality names clusters that do not exist: ${shown.join(', ')}${more}; check the names, or join them`]
}
