/**
 * Keeps a ServiceAccount `default` in every namespace that is not being deleted, because pods without an account of
 * their own run as it. Sole writer of: the existence of that account. Runs again when a namespace changes or the account
 * is deleted. Deletion: the account goes with its namespace.
 */
import { NAMESPACES, SERVICE_ACCOUNTS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { defineController, NOTHING_TO_DO, type Plan, via } from '../../../runtime/controller.ts'

const NAME = 'default'

export interface Observed {
  namespace: KubeObject | undefined
  account: KubeObject | undefined
}

export const defaultServiceAccount = defineController<Observed>({
  name: 'minicluster.housekeeping.service-account',
  for: NAMESPACES,
  watches: [
    via(SERVICE_ACCOUNTS, (account) => (account.metadata.name === NAME ? [{ namespace: '', name: account.metadata.namespace ?? '' }] : [])),
  ],
  writes: [{ resource: SERVICE_ACCOUNTS, verbs: ['create'] }],
  observe: (ref, namespace, read) => ({ namespace, account: read.get(SERVICE_ACCOUNTS, ref.name, NAME) }),
  plan,
})

export function plan({ namespace, account }: Observed): Plan {
  if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined || account !== undefined) return NOTHING_TO_DO
  const object: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: NAME, namespace: namespace.metadata.name } }
  return { actions: [{ do: 'create', resource: SERVICE_ACCOUNTS, object }] }
}
