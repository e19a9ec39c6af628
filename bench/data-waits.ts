/** Waiting for states of a member, and asking it for tokens. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../src/client/client.ts'
import { SERVICE_ACCOUNTS } from '../src/kinds/kubernetes/resources.ts'
import { cacheAudience } from '../src/kube/cache-audience.ts'
import type { KubeObject } from '../src/kube/meta.ts'

const LOOK_MS = 10

/** Fails when it is not so in time. */
export async function until(what: string, withinMs: number, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + withinMs; !(await isSo()); await sleep(LOOK_MS))
    if (performance.now() > deadline) throw new Error(`not within ${withinMs / 60_000} minutes: ${what}`)
}

/** What a client of a dataset shows to the master of its cache. */
export async function accountToken(member: Client, dataset: { namespace: string; name: string }): Promise<string> {
  const request: KubeObject = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { name: 'default', namespace: dataset.namespace },
    spec: { audiences: [cacheAudience(dataset)], expirationSeconds: 3600 },
  }
  const { status } = await member.create(SERVICE_ACCOUNTS, request as never, { subresource: 'token' })
  return String((status as { token?: unknown } | undefined)?.token ?? '')
}
