/** What may never be seen when controllers rest, whatever tenants have written: judged over the objects of both namespaces. */

import type { WorldCluster } from '../../../src/faultsim/world/index.ts'
import type { Dataset } from '../../../src/kinds/fluid/index.ts'
import { referenceOf } from '../../../src/kinds/fluid/reference.ts'
import { DATASETS } from '../../../src/kinds/fluid/resources.ts'
import { ReferenceGrant } from '../../../src/kinds/gateway/reference-grant.ts'
import { CONFIG_MAPS, DAEMON_SETS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { keyOfObject } from '../../../src/kube/object-reference.ts'
import { isPermittedAmong, type ReferenceConsent } from '../../../src/runtime/reference-consent.ts'
import { NAMESPACES } from '../corpus.ts'
import { CREDENTIAL } from './sharing.ts'

const DATASET = { group: DATASETS.group, kind: DATASETS.kind }
const isOurs = ({ metadata }: KubeObject): boolean => NAMESPACES.includes(metadata.namespace ?? '')
const isCopy = ({ metadata }: KubeObject): boolean => metadata.labels?.['sluice.dev/mirror-of'] !== undefined

/** Sentences; none: nothing has crossed that may not. */
export async function crossings(member: WorldCluster, mode: ReferenceConsent): Promise<string[]> {
  const datasets = ((await member.list(DATASETS)) as Dataset[]).filter(isOurs)
  const grants = (await member.list(ReferenceGrant.resource)) as ReferenceGrant[]
  const copies = [...(await member.list(CONFIG_MAPS)), ...(await member.list(DAEMON_SETS))].filter(
    (object) => isOurs(object) && isCopy(object),
  )
  const byKey = new Map(datasets.map((dataset) => [keyOfObject(dataset), dataset]))
  const said = copies
    .filter((copy) => JSON.stringify(copy).includes(CREDENTIAL))
    .map((copy) => `a copy has a credential: ${keyOfObject(copy)}`)
  for (const dataset of datasets) {
    const referred = referenceOf(dataset)
    const { status } = dataset
    if (referred === undefined) {
      const strangers = (status?.datasetRef ?? []).filter((key) => {
        const to = byKey.get(key) === undefined ? undefined : referenceOf(byKey.get(key) as Dataset)
        return to === undefined || `${to.namespace}/${to.name}` !== keyOfObject(dataset)
      })
      if (strangers.length > 0) said.push(`${keyOfObject(dataset)} lists what does not refer to it: ${strangers.join()}`)
      continue
    }
    if (JSON.stringify(status ?? {}).includes(CREDENTIAL)) said.push(`the status of a reference has a credential: ${keyOfObject(dataset)}`)
    const from = { ...DATASET, namespace: dataset.metadata.namespace ?? '' }
    const to = { ...DATASET, namespace: referred.namespace, name: referred.name }
    if (status?.phase === 'Bound' && !isPermittedAmong(grants, { from, to, mode }))
      said.push(`a reference is bound without consent: ${keyOfObject(dataset)}`)
  }
  return said
}
