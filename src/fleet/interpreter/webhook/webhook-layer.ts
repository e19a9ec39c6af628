/**
 * The layer of ResourceInterpreterWebhookConfigurations: of all hooks whose rules match an operation on a kind, the first
 * by configuration and name is called. Its failure is final; no other hook is tried.
 */
import type { PostJson } from '../../../client/post-json.ts'
import type { ResourceInterpreterWebhook, ResourceInterpreterWebhookConfiguration } from '../../../kinds/karmada/index.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import { parseGroupVersion } from '../../../kube/meta.ts'
import { type AsyncKindRules, type AsyncLayer, OPERATIONS, type Operation } from '../interpreter.ts'
import { type Addresses, type Target, targetOf } from './address.ts'
import {
  acceptedResponse,
  CONTEXT_VERSION,
  componentsAnswer,
  dependenciesAnswer,
  healthAnswer,
  patched,
  type Question,
  type Response,
  replicaAnswer,
  requestOf,
  statusAnswer,
  WebhookRefusal,
} from './protocol.ts'

export interface WebhookOptions {
  call: PostJson
  /** A new id per request. */
  uid: () => string
  addresses: Addresses
}

/** The default documented in the API. */
const DEFAULT_TIMEOUT_SECONDS = 10

interface Hook {
  /** `configuration/name`: determines the order of hooks, and identifies them in errors. */
  id: string
  webhook: ResourceInterpreterWebhook
}

export function webhookLayer(configurations: readonly ResourceInterpreterWebhookConfiguration[], options: WebhookOptions): AsyncLayer {
  const hooks = hooksInOrder(configurations)
  const known = new Map<string, AsyncKindRules | undefined>()
  return {
    rulesOf(apiVersion, kind) {
      if (hooks.length === 0) return undefined
      const key = `${apiVersion} ${kind}`
      if (!known.has(key)) known.set(key, rulesFor(hooks, apiVersion, kind, options))
      return known.get(key)
    },
  }
}

/** By id; hooks with the same id stay in the order in which they are written. */
function hooksInOrder(configurations: readonly ResourceInterpreterWebhookConfiguration[]): Hook[] {
  const hooks = configurations.flatMap(({ metadata, webhooks }) =>
    webhooks.map((webhook): Hook => ({ id: `${metadata.name ?? ''}/${webhook.name}`, webhook })),
  )
  return hooks.sort((a, b) => compareStrings(a.id, b.id))
}

function rulesFor(hooks: readonly Hook[], apiVersion: string, kind: string, options: WebhookOptions): AsyncKindRules | undefined {
  const chosen = new Map<Operation, Hook>()
  for (const operation of OPERATIONS) {
    const hook = hooks.find(({ webhook }) => matches(webhook, operation, apiVersion, kind))
    if (hook !== undefined) chosen.set(operation, hook)
  }
  return chosen.size === 0 ? undefined : askingRules(chosen, options)
}

function matches({ rules }: ResourceInterpreterWebhook, operation: Operation, apiVersion: string, kind: string): boolean {
  const { group, version } = parseGroupVersion(apiVersion)
  const has = (list: readonly string[], value: string): boolean => list.includes('*') || list.includes(value)
  return (rules ?? []).some(
    (rule) => has(rule.operations, operation) && has(rule.apiGroups, group) && has(rule.apiVersions, version) && has(rule.kinds, kind),
  )
}

function askingRules(chosen: ReadonlyMap<Operation, Hook>, options: WebhookOptions): AsyncKindRules {
  const rules: AsyncKindRules = {}
  const when = (operation: Operation, use: (ask: Ask) => void): void => {
    const hook = chosen.get(operation)
    if (hook !== undefined) use((question, read) => ask(hook, { ...question, operation }, options, read))
  }
  when('InterpretReplica', (asked) => (rules.replicas = (object) => asked({ object }, replicaAnswer)))
  when('InterpretComponent', (asked) => (rules.components = (object) => asked({ object }, componentsAnswer)))
  when(
    'ReviseReplica',
    (asked) => (rules.revise = (object, replicas) => asked({ object, replicas }, (response) => patched(object, response))),
  )
  when(
    'Retain',
    (asked) => (rules.retain = (desired, observed) => asked({ object: desired, observed }, (response) => patched(desired, response))),
  )
  when(
    'AggregateStatus',
    (asked) => (rules.aggregate = (template, items) => asked({ object: template, items }, (response) => patched(template, response))),
  )
  when('InterpretDependency', (asked) => (rules.dependencies = (object) => asked({ object }, dependenciesAnswer)))
  when('InterpretStatus', (asked) => (rules.reflect = (object) => asked({ object }, statusAnswer)))
  when('InterpretHealth', (asked) => (rules.health = (object) => asked({ object }, healthAnswer)))
  return rules
}

type Ask = <T>(question: Omit<Question, 'operation'>, read: (response: Response) => T) => Promise<T>

async function ask<T>({ id, webhook }: Hook, question: Question, options: WebhookOptions, read: (response: Response) => T): Promise<T> {
  let step = 'could not create ResourceInterpreterContext objects'
  try {
    if (!webhook.interpreterContextVersions.includes(CONTEXT_VERSION)) {
      throw new Error(`webhook does not accept known ResourceInterpreterContext versions (${CONTEXT_VERSION})`)
    }
    const uid = options.uid()
    const body = JSON.stringify(requestOf(question, uid))
    step = 'could not get REST client'
    const target: Target = targetOf(webhook.clientConfig, options.addresses)
    const seconds = webhook.timeoutSeconds
    step = 'failed to call webhook'
    // Passes the timeout to the server.
    const url = seconds === undefined ? target.url : `${target.url}?timeout=${seconds}s`
    const answer = await options.call({ ...target, url }, body, (seconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000)
    step = 'received invalid webhook response'
    return read(acceptedResponse(answer, uid))
  } catch (error) {
    const reason = error instanceof WebhookRefusal ? error.message : `${step}: ${(error as Error).message}`
    throw new Error(`Internal error occurred: failed calling webhook "${id}": ${reason}`, { cause: error })
  }
}
