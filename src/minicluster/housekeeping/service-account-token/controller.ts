/**
 * Fills Secrets of type `kubernetes.io/service-account-token` with a token of the ServiceAccount they name, the cluster's
 * authority and their namespace, and deletes them when that ServiceAccount is gone. Sole writer of: `token`, `ca.crt` and
 * `namespace` in them, and the annotations that say whose token it is. Runs again when the Secret or the ServiceAccount
 * changes. A token does not expire: it is valid as long as the Secret holds it.
 */

import type { Client } from '../../../client/client.ts'
import { ifFound } from '../../../client/errors.ts'
import { SECRETS, SERVICE_ACCOUNTS } from '../../../kinds/kubernetes/resources.ts'
import { encodeSecretText } from '../../../kinds/kubernetes/secret-data.ts'
import type { Secret, ServiceAccount } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Controller, defineController, indexOf, NOTHING_TO_DO, type Plan, via } from '../../../runtime/controller.ts'

const TYPE = 'kubernetes.io/service-account-token'
const ACCOUNT_NAME = 'kubernetes.io/service-account.name'
const ACCOUNT_UID = 'kubernetes.io/service-account.uid'
const BY_ACCOUNT = 'account'

export interface ServiceAccountTokenDeps {
  /** PEM; read each time, because certificates rotate. */
  authority(): string
  /** A token of the account that is bound only to the Secret it is kept in. */
  signToken(account: KubeObject, secret: KubeObject): string
}

export interface Observed {
  secret: Secret | undefined
  /** Undefined when there is none of that name and uid. */
  account: ServiceAccount | undefined
  authority: string
  /** Made only where one is missing. */
  token: string | undefined
}

export function serviceAccountToken({ authority, signToken }: ServiceAccountTokenDeps): Controller {
  return defineController<Observed, Secret>({
    name: 'minicluster.housekeeping.service-account-token',
    needsHost: true,
    for: SECRETS,
    watches: [
      via(SERVICE_ACCOUNTS, ({ metadata: { namespace = '', name = '' } }, read) =>
        read.byIndex(SECRETS, BY_ACCOUNT, `${namespace}/${name}`).map((secret) => ({ namespace, name: secret.metadata.name ?? '' })),
      ),
    ],
    indexes: [
      indexOf(SECRETS, BY_ACCOUNT, (secret) => {
        const name = accountNameOf(secret)
        return name === undefined ? [] : [`${secret.metadata.namespace}/${name}`]
      }),
    ],
    writes: [{ resource: SECRETS, verbs: ['patch', 'delete'] }],
    reads: [{ resource: SERVICE_ACCOUNTS, verbs: ['get'] }],
    async observe(ref, secret, read, client) {
      const name = secret === undefined ? undefined : accountNameOf(secret)
      if (secret === undefined || name === undefined) return { secret: undefined, account: undefined, authority: '', token: undefined }
      const known = matching(secret, read.get(SERVICE_ACCOUNTS, ref.namespace, name))
      // The cache may not have it yet; only the server can say that there is none.
      const account = known ?? matching(secret, await fetchAccount(client, ref.namespace, name))
      const token = account !== undefined && !holds(secret, 'token') ? signToken(account, secret) : undefined
      return { secret, account, authority: authority(), token }
    },
    plan,
  })
}

export function plan({ secret, account, authority, token }: Observed): Plan {
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  if (account === undefined) return { actions: [{ do: 'delete', resource: SECRETS, of: secret }] }
  const data: Record<string, string> = {}
  if (token !== undefined) data.token = encodeSecretText(token)
  if (authority !== '' && secret.data?.['ca.crt'] !== encodeSecretText(authority)) data['ca.crt'] = encodeSecretText(authority)
  if (!holds(secret, 'namespace')) data.namespace = encodeSecretText(secret.metadata.namespace ?? '')
  if (Object.keys(data).length === 0) return NOTHING_TO_DO
  const annotations = { [ACCOUNT_NAME]: account.metadata.name, [ACCOUNT_UID]: account.metadata.uid }
  return { actions: [{ do: 'patch', resource: SECRETS, of: secret, patch: { metadata: { annotations }, data } }] }
}

const holds = (secret: Secret, key: string): boolean =>
  secret.data !== undefined && Object.hasOwn(secret.data, key) && secret.data[key] !== ''

function annotationOf(secret: Secret, key: string): string {
  const { annotations = {} } = secret.metadata
  return Object.hasOwn(annotations, key) ? (annotations[key] ?? '') : ''
}

/** The ServiceAccount whose token a Secret is to hold; undefined for all other Secrets. */
function accountNameOf(secret: Secret): string | undefined {
  return secret.type === TYPE ? annotationOf(secret, ACCOUNT_NAME) || undefined : undefined
}

/** An account of the same name that was created later is a different one. */
function matching(secret: Secret, account: ServiceAccount | undefined): ServiceAccount | undefined {
  const uid = annotationOf(secret, ACCOUNT_UID)
  return account !== undefined && (uid === '' || uid === account.metadata.uid) ? account : undefined
}

function fetchAccount(client: Client, namespace: string, name: string): Promise<ServiceAccount | undefined> {
  return ifFound(client.get(SERVICE_ACCOUNTS, { namespace, name }))
}
