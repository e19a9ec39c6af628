/**
 * The layer of ResourceInterpreterWebhookConfigurations: of all hooks whose rules name an operation on a kind, the first by
 * configuration and name is asked. A failure is the answer; nobody else is asked instead.
 */
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
} from './protocol.ts'

/** Posts a JSON body and answers the decoded JSON of the response. Rejects when there is none in time. */
export type WebhookCall = (url: string, caBundle: string | undefined, body: string, timeoutMs: number) => Promise<unknown>

export interface WebhookOptions {
  call: WebhookCall
  /** A new id per question. */
  uid: () => string
  addresses: Addresses
}

/** What the API documents as the default. */
const DEFAULT_TIMEOUT_SECONDS = 10

interface Hook {
  /** The order of hooks: configuration, name, and which of that name it is. */
  order: string
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

function hooksInOrder(configurations: readonly ResourceInterpreterWebhookConfiguration[]): Hook[] {
  const hooks: Hook[] = []
  for (const configuration of configurations) {
    const counts = new Map<string, number>()
    for (const webhook of configuration.webhooks) {
      const count = counts.get(webhook.name) ?? 0
      counts.set(webhook.name, count + 1)
      hooks.push({ order: `${configuration.metadata.name ?? ''}/${webhook.name}/${count}`, webhook })
    }
  }
  return hooks.sort((a, b) => compareStrings(a.order, b.order))
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
    if (hook !== undefined) use((question, read) => ask(hook.webhook, { ...question, operation }, options, read))
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

async function ask<T>(
  webhook: ResourceInterpreterWebhook,
  question: Question,
  options: WebhookOptions,
  read: (response: Response) => T,
): Promise<T> {
  try {
    if (!webhook.interpreterContextVersions.includes(CONTEXT_VERSION)) {
      throw new Error(`webhook does not accept known ResourceInterpreterContext versions (${CONTEXT_VERSION})`)
    }
    const target: Target = targetOf(webhook.clientConfig, options.addresses)
    const uid = options.uid()
    const timeoutMs = (webhook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000
    const answer = await options.call(target.url, target.caBundle, JSON.stringify(requestOf(question, uid)), timeoutMs)
    return read(acceptedResponse(answer, uid))
  } catch (error) {
    throw new Error(`failed calling webhook "${webhook.name}" for ${question.operation}: ${(error as Error).message}`, { cause: error })
  }
}
