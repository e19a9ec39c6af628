/**
 * What to do about the scripts of a dataset's sidecars: pure. The one that waits in clients belongs to the dataset of the claim;
 * the one that waits in containers of users is shared by the datasets of a namespace, and belongs to all of them.
 */
import type { Dataset } from '../../../kinds/fluid/index.ts'
import { CONFIG_MAPS } from '../../../kinds/kubernetes/resources.ts'
import type { ConfigMap } from '../../../kinds/kubernetes/types.ts'
import type { OwnerReference } from '../../../kube/meta.ts'
import { type Action, type KeyedEvent, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { notOurs } from './events.ts'
import { APP_SCRIPT, APP_SCRIPT_TEXT, MOUNT_SCRIPT, MOUNT_SCRIPT_TEXT, SCRIPT_HASH, scriptHash } from './texts.ts'

export interface Observed {
  dataset: Dataset
  /** A pod has, or had, a sidecar of it. */
  isUsed: boolean
  /** Of its mount script. */
  name: string
  mount: ConfigMap | undefined
  app: ConfigMap | undefined
}

interface Wanted {
  name: string
  data: Record<string, string>
}

export function plan({ dataset, isUsed, name, mount, app }: Observed): Plan {
  if (!isUsed) return NOTHING_TO_DO
  const one = scriptPlan(dataset, mount, { name, data: { [MOUNT_SCRIPT.key]: MOUNT_SCRIPT_TEXT } })
  const other = scriptPlan(dataset, app, { name: APP_SCRIPT.configMap, data: { [APP_SCRIPT.key]: APP_SCRIPT_TEXT } })
  const events = [...one.events, ...other.events]
  return { actions: [...one.actions, ...other.actions], ...(events.length === 0 ? {} : { events }) }
}

function scriptPlan(dataset: Dataset, live: ConfigMap | undefined, { name, data }: Wanted): { actions: Action[]; events: KeyedEvent[] } {
  const owner = ownerOf(dataset)
  const annotations = { [SCRIPT_HASH]: scriptHash(Object.values(data).join()) }
  if (live === undefined) {
    const metadata = { namespace: dataset.metadata.namespace, name, annotations, ownerReferences: [owner] }
    const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
    return { actions: [{ do: 'create', resource: CONFIG_MAPS, object, mustBeNew: true }], events: [] }
  }
  if (!isOurs(live)) return { actions: [], events: [notOurs(dataset, name)] }
  // It is coming back.
  if (live.metadata.deletionTimestamp !== undefined) return { actions: [], events: [] }
  const owners = live.metadata.ownerReferences ?? []
  const isOwned = owners.some(({ uid }) => uid === owner.uid)
  if (isOwned && isSame(live, { name, data }) && live.metadata.annotations?.[SCRIPT_HASH] === annotations[SCRIPT_HASH])
    return { actions: [], events: [] }
  const others = Object.keys(live.data ?? {}).filter((key) => !Object.hasOwn(data, key))
  const patch = {
    metadata: { annotations, ...(isOwned ? {} : { ownerReferences: [...owners, owner] }) },
    data: { ...Object.fromEntries(others.map((key) => [key, null])), ...data },
  }
  return { actions: [{ do: 'patch', resource: CONFIG_MAPS, of: live, patch }], events: [] }
}

/** Several own one: none of them is its controller. */
const ownerOf = ({ apiVersion, kind, metadata: { name = '', uid = '' } }: Dataset): OwnerReference => ({ apiVersion, kind, name, uid })

/** A dataset owns it, or did until just now. */
const isOurs = ({ metadata }: ConfigMap): boolean => metadata.annotations?.[SCRIPT_HASH] !== undefined

export const isOwnedBy = (live: ConfigMap | undefined, { metadata }: Dataset): boolean =>
  live !== undefined && isOurs(live) && (live.metadata.ownerReferences ?? []).some(({ uid }) => uid === metadata.uid)

const isSame = ({ data = {} }: ConfigMap, wanted: Wanted): boolean =>
  Object.keys(data).length === Object.keys(wanted.data).length &&
  Object.entries(wanted.data).every(([key, text]) => Object.hasOwn(data, key) && data[key] === text)
