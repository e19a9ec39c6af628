/** `sluice why deployment/web`: why it is where it is, from the template to the object in each cluster, and what to do about it. */
import pc from 'picocolors'
import { type Client, createClient } from '../../client/client.ts'
import { ApiError } from '../../client/errors.ts'
import { undiciTransport } from '../../client/transport/undici.ts'
import { TransportError } from '../../client/transport.ts'
import { explainObject } from '../../fleet/explain/index.ts'
import { MODULES } from '../../modules.ts'
import type { Explainer } from '../../runtime/seams/explainer.ts'
import { connectionFor } from '../connect.ts'
import { CommandError, type Machine } from '../machine.ts'
import { formatted } from '../output.ts'
import { unanswered } from '../unanswered.ts'
import { whyText } from '../why-text.ts'

export interface WhyOptions {
  kubeconfig?: string
  context?: string
  namespace?: string
  output?: string
}

export async function why(machine: Machine, words: readonly string[], options: WhyOptions): Promise<void> {
  const subject = subjectOf(words)
  const connection = await connectionFor(machine, options)
  const transport = undiciTransport(connection)
  const client = createClient({ transport, clock: machine.clock, random: machine.random, userAgent: 'sluice/why' })
  const where = `${connection.server} (context ${connection.context})`
  try {
    const explainers = MODULES.flatMap((module) => module.explainers)
    await whyFrom(machine, { client, where, namespace: connection.namespace, explainers }, subject, options)
  } catch (error) {
    if (error instanceof TransportError) throw unanswered(connection.server, error)
    if (error instanceof ApiError) throw new CommandError(error.message, error)
    throw error
  } finally {
    await client.close()
  }
}

export interface Hub {
  client: Client
  where: string
  /** The default namespace. */
  namespace: string
  /** What modules add to the chain. */
  explainers: readonly Explainer[]
}

export async function whyFrom(
  machine: Pick<Machine, 'out' | 'isTerminal'>,
  hub: Hub,
  { kind, name }: Subject,
  options: WhyOptions,
): Promise<void> {
  const { context } = options
  const request = { kind, name, namespace: options.namespace ?? hub.namespace, ...(context === undefined ? {} : { context }) }
  const explained = await explainObject(hub.client, request, hub.explainers)
  if (explained === 'no-hub')
    throw new CommandError(
      `${hub.where} is no hub, and explains only datasets, their runtimes and pods; ask a hub with --context (that of sluice up is called hub): sluice why ${kind}/${name} -n ${request.namespace} --context hub`,
    )
  if (explained === 'no-resource') throw new CommandError(`the hub has no resource ${JSON.stringify(kind)}; see: kubectl api-resources`)
  const { resource, isHub, explanation, isThere, leavesTrace } = explained
  const text = formatted(explanation, options.output)
  if (text !== undefined || leavesTrace) machine.out(text ?? whyText(explanation, machine.isTerminal ? pc : pc.createColors(false)))
  const all = resource.namespaced ? ' -A' : ''
  // Objects of all clusters are listed by a hub.
  const list = `${isHub ? 'sluice' : 'kubectl'} get ${resource.plural}${all}${context === undefined ? '' : ` --context ${context}`}`
  if (!isThere) throw new CommandError(`${explanation.says}: ${explanation.fix}; see: ${list}`)
}

interface Subject {
  kind: string
  name: string
}

/** `deployment/web` or `deployment web`. */
function subjectOf(words: readonly string[]): Subject {
  const [first = '', second] = words
  const slash = first.indexOf('/')
  const [kind, name] = second === undefined && slash > 0 ? [first.slice(0, slash), first.slice(slash + 1)] : [first, second ?? '']
  if (kind === '' || name === '' || words.length > 2) throw new CommandError('name one object: sluice why deployment/web')
  return { kind, name }
}
