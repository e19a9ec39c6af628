/** What `sluice why` says about data: on a workload that has claims, on a claim, and on a source. */
import { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Explainer } from '../../runtime/seams/explainer.ts'
import { explainClaim } from './claim.ts'
import { readClaimInput } from './claim-input.ts'
import { explainSource } from './source.ts'
import { explainWorkload, NARROWING } from './workload.ts'
import { readClusters, readWorkloadInput } from './workload-input.ts'

const isOf = ({ group, kind }: Resource, { group: ownGroup, kind: ownKind }: { group: string; kind: string }): boolean =>
  group === ownGroup && kind === ownKind

export const gateExplainer: Explainer = {
  name: NARROWING,
  at: 'before-schedule',
  async explain({ template, binding, resource }, hub) {
    if (template === undefined || !resource.namespaced) return { links: [] }
    return explainWorkload(await readWorkloadInput(hub, template, binding))
  },
  objects: {
    explains: (resource) => isOf(resource, DataSource) || isOf(resource, DataSourceClaim),
    async explain({ resource, object, served }, hub) {
      if (isOf(resource, DataSource)) return explainSource(object as DataSource, await readClusters(hub))
      return explainClaim(await readClaimInput(hub, object as DataSourceClaim, served))
    },
  },
}
