/** Our admission and conversion over TLS, registered with the server by URL and authority. */

import { makeAuthority, makeLeaf, makePrivateKey } from '../apiserver/pki/certificates.ts'
import { messageOf } from '../base/error-text.ts'
import type { Log } from '../base/log.ts'
import { uuid } from '../base/random.ts'
import { type Caches, createCaches } from '../client/cache/caches.ts'
import type { Client } from '../client/client.ts'
import { isNotFound } from '../client/errors.ts'
import { hasRight } from '../client/has-right.ts'
import type { Admission, AdmissionRead, AdmissionReader } from '../kinds/admission.ts'
import type { OwnKind } from '../kinds/schema/define-kind.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'
import { type Address, serveWebhooks } from '../runtime/listener/serve.ts'
import { webhookConfigurations } from '../runtime/webhook/configuration.ts'
import { CONVERT_PATH, webhookHandle } from '../runtime/webhook/handle.ts'
import type { Machine } from './machine.ts'

export interface WebhooksOptions {
  machine: Machine
  role: string
  client: Client
  log: Log
  admissions: readonly Admission[]
  kinds: readonly OwnKind[]
  webhook: Address
  webhookUrl: string | undefined
  /** Aborted when they are no longer wanted. */
  signal: AbortSignal
}

export interface RegisteredWebhooks {
  conversion: { url: string; caBundle: string }
  /** Webhooks that fail open are unregistered; those that fail closed stay, so that nothing gets in unchecked. */
  takeBack(): Promise<void>
  stop(): Promise<void>
}

const YEAR_MS = 365 * 86_400_000
const HOUR_MS = 3_600_000
const MANAGER = 'sluice'

/** Undefined when there is nothing to serve. */
export async function serveAndRegister(options: WebhooksOptions): Promise<RegisteredWebhooks | undefined> {
  const { admissions, client, log, signal } = options
  const { clock, random } = options.machine
  const convertible = options.kinds.flatMap(({ group, kind, definition }) =>
    definition.convert === undefined ? [] : [{ group, kind, convert: definition.convert }],
  )
  if (admissions.length === 0 && convertible.length === 0) return undefined
  const warn = (error: unknown, { plural }: Resource): void =>
    log.write('warn', 'cannot follow a resource', { resource: plural, cause: messageOf(error) })
  const caches = createCaches({ client, clock, random, onError: warn })
  const undo = [async () => caches.stop()]
  const stop = async (): Promise<void> => {
    for (const step of undo.reverse()) await step()
  }
  try {
    const ownGroups = [...new Set(options.kinds.map((kind) => kind.group))]
    const reads = admissions.flatMap((admission) => admission.reads ?? [])
    for (const resource of reads) if (!ownGroups.includes(resource.group)) caches.of(resource)
    await unlessAborted(caches.synced(), signal)
    // The definitions of our own kinds are installed later: decisions that read them wait until then.
    const read = readerOf(caches, reads)
    const { authority, leaf } = await certificatesFor(options)
    const onError = (error: unknown, path: string): void =>
      log.write('error', 'a webhook failed', { path, cause: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    const handle = webhookHandle({
      admissions,
      kinds: convertible,
      read,
      hasRight: (user, right) => hasRight(client, user, right),
      ready: () => caches.synced(),
      nowMs: () => clock.now(),
      newUid: () => uuid(random),
      onError,
    })
    const serving = await serveWebhooks(handle, leaf, options.webhook)
    undo.push(() => serving.stop())
    const url = options.webhookUrl ?? `https://${hostInUrl(options.webhook.host)}:${serving.port}`
    const configurations = webhookConfigurations(`sluice-${options.role}`, admissions, { target: { url, authority }, ownGroups })
    for (const object of configurations) await client.apply(resourceOf(object), object, { fieldManager: MANAGER, force: true })
    log.write('info', 'webhooks are registered', { url, webhooks: admissions.map((admission) => admission.name).join(' ') })
    const takeBack = async (): Promise<void> => {
      for (const object of configurations) {
        const webhooks = (object.webhooks as { failurePolicy?: string }[]).filter(({ failurePolicy }) => failurePolicy !== 'Ignore')
        if (webhooks.length === 0) await remove(client, object)
        else await client.apply(resourceOf(object), { ...object, webhooks }, { fieldManager: MANAGER, force: true })
      }
    }
    return { conversion: { url: `${url}${CONVERT_PATH}`, caBundle: Buffer.from(authority).toString('base64') }, takeBack, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Stops waiting for work that has not finished when the signal aborts. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason as Error)
  const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
  return Promise.race([work, aborted])
}

const hostInUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host)

const resourceOf = (configuration: KubeObject): Resource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: `${configuration.kind.toLowerCase()}s`,
  kind: configuration.kind,
  namespaced: false,
})

async function remove(client: Client, object: KubeObject): Promise<void> {
  try {
    await client.delete(resourceOf(object), { name: object.metadata.name ?? '' })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** A new authority for this process: no other can impersonate it, and it disappears with the process. */
async function certificatesFor({
  machine,
  webhook,
  webhookUrl,
}: WebhooksOptions): Promise<{ authority: string; leaf: { certificate: string; key: string } }> {
  const { clock, random } = machine
  const validity = { notBeforeMs: clock.now() - HOUR_MS, notAfterMs: clock.now() + YEAR_MS }
  const key = await makePrivateKey()
  const authority = await makeAuthority(key, 'sluice-webhooks', { ...validity, random })
  const names = [webhook.host, ...(webhookUrl === undefined ? [] : [new URL(webhookUrl).hostname]), 'localhost', '127.0.0.1']
  const leaf = await makeLeaf({
    ...validity,
    random,
    authority: { certificate: authority, key },
    subject: { commonName: 'sluice-webhooks', organizations: [] },
    purpose: { server: [...new Set(names)] },
  })
  return { authority, leaf }
}

/** Declared resources are read from caches, as in every decision here. */
function readerOf(caches: Caches, reads: readonly AdmissionRead[]): AdmissionReader {
  const declared = new Map(reads.map((resource) => [`${resource.group}/${resource.plural}`, resource]))
  for (const resource of declared.values()) caches.of(resource)
  const cacheOf = (of: { group: string; resource: string }) => {
    const resource = declared.get(`${of.group}/${of.resource}`)
    if (resource === undefined) throw new Error(`an admission reads ${of.resource} without declaring it in \`reads\``)
    return caches.of(resource)
  }
  return {
    get: (of, namespace, name) => cacheOf(of).get(namespace, name),
    list: (of, namespace) => cacheOf(of).list(namespace),
  }
}
