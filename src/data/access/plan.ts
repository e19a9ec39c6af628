/** What to do about the ConfigMap that says who may read a dataset: pure. */
import type { Dataset } from '../../kinds/fluid/index.ts'
import { CONFIG_MAPS } from '../../kinds/kubernetes/resources.ts'
import type { ConfigMap } from '../../kinds/kubernetes/types.ts'
import { NOTHING_TO_DO, type Plan } from '../../runtime/controller.ts'
import { notOurs, tooMany } from './events.ts'
import { ACCESS_KEY, accessConfigMap, type Grants } from './grants.ts'

export interface Observed {
  dataset: Dataset
  grants: Grants
  live: ConfigMap | undefined
}

export function plan({ dataset, grants, live }: Observed): Plan {
  const { granted, left } = grants
  if (live !== undefined && !isOurs(live, dataset))
    return granted.length === 0 ? NOTHING_TO_DO : { actions: [], events: [notOurs(dataset, live.metadata.name ?? '')] }
  const events = left === 0 ? {} : { events: [tooMany(dataset, left)] }
  if (granted.length === 0) return { actions: live === undefined ? [] : [{ do: 'delete', resource: CONFIG_MAPS, of: live }] }
  const wanted = accessConfigMap(dataset, granted)
  if (live === undefined) return { actions: [{ do: 'create', resource: CONFIG_MAPS, object: wanted }], ...events }
  // It is coming back.
  if (live.metadata.deletionTimestamp !== undefined || isSame(live, wanted)) return { actions: [], ...events }
  const others = Object.keys(live.data ?? {}).filter((key) => key !== ACCESS_KEY)
  const data = { ...Object.fromEntries(others.map((key) => [key, null])), ...wanted.data }
  return { actions: [{ do: 'patch', resource: CONFIG_MAPS, of: live, patch: { data } }], ...events }
}

const isOurs = ({ metadata }: ConfigMap, dataset: Dataset): boolean =>
  (metadata.ownerReferences ?? []).some(({ uid, controller }) => controller === true && uid === dataset.metadata.uid)

const isSame = ({ data = {} }: ConfigMap, wanted: ConfigMap): boolean =>
  Object.keys(data).length === 1 && data[ACCESS_KEY] === wanted.data?.[ACCESS_KEY]
