/**
 * What `sluice why` says about datasets and runtimes of the hub, where they are templates like others: how they are in each
 * cluster, in the words of that cluster, and whether what they need goes to the same clusters. Pure, but for reading the bindings
 * of what they need.
 */
import type { Client } from '../../client/client.ts'
import { FORBIDDEN, got } from '../../client/read-as-caller.ts'
import { Dataset, runtimeKinds } from '../../kinds/fluid/index.ts'
import { referenceOf } from '../../kinds/fluid/reference.ts'
import { DATASETS } from '../../kinds/fluid/resources.ts'
import type { Binding } from '../../kinds/karmada/index.ts'
import { bindingName } from '../../kinds/karmada/names.ts'
import { RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import type { Resource } from '../../kube/resource.ts'
import type { ExplainedLinks, ExplainSubject, Link, Trouble } from '../../runtime/seams/explainer.ts'
import { CLASS } from '../dataset/requested-runtime.ts'
import { withdrawnText, withheldText } from '../reference/consent.ts'
import { MOST_SHOWN, short } from './pods.ts'

type Said = Pick<ExplainSubject, 'resource' | 'namespace' | 'name' | 'binding'>

/** What one cluster reports. */
interface Reported {
  cluster: string
  phase: string
  /** Empty: nothing is wrong there. */
  complaints: readonly string[]
  figures: readonly string[]
}

/** What a dataset needs beside it, and where that goes. */
export interface Needed {
  what: 'runtime' | 'original'
  /** `CacheRuntime images`, `Dataset data/images`. */
  name: string
  is: 'carried' | 'not-carried' | 'not-there' | 'hidden'
  clusters: readonly string[]
}

export async function explainOnHub(subject: ExplainSubject, hub: Client): Promise<ExplainedLinks> {
  const isDataset = subject.resource.kind === Dataset.kind
  const all = reportsOf(subject)
  const waiting = all.filter((one) => isWaiting(one, isDataset))
  const dataset = isDataset ? (subject.template as Dataset | undefined) : undefined
  const refusal = dataset === undefined ? undefined : refusalIn(dataset, waiting)
  // In other clusters than all of them nothing is missing: what is needed is looked at when something waits.
  const needed = dataset === undefined || waiting.length === 0 || refusal !== undefined ? undefined : await neededBy(dataset, hub)
  return onHub(subject, { all, waiting, refusal, needed })
}

interface Seen {
  all: readonly Reported[]
  waiting: readonly Reported[]
  /** Consent that is missing, in the words of the clusters. */
  refusal: { text: string; owner: string } | undefined
  needed: Needed | undefined
}

function onHub(subject: ExplainSubject, { all, waiting, refusal, needed }: Seen): ExplainedLinks {
  const links = all.slice(0, MOST_SHOWN).map((one) => clusterLink(one, subject, waiting.includes(one)))
  if (all.length > MOST_SHOWN) links.push({ what: 'data', state: 'ok', says: `and ${all.length - MOST_SHOWN} more clusters` })
  const [first] = waiting
  if (first === undefined) return { links: [...originalLinks(subject), ...links] }
  if (refusal !== undefined) {
    const says = short(refusal.text)
    const fix = `ask whoever owns namespace ${refusal.owner} for a ReferenceGrant there, and for a policy that carries it to the same clusters`
    return { links: [{ what: 'consent', state: 'waits', says }, ...links], trouble: { state: 'waits', says, fix } }
  }
  const lacking = needed === undefined ? undefined : lackOf(needed, waiting)
  const trouble: Trouble = lacking?.trouble ?? {
    state: first.phase === 'Failed' ? 'fails' : 'waits',
    says: `${first.cluster}: ${saidIn(first)}`,
    fix: `see what it says there: ${commandFor(subject, first.cluster)}`,
  }
  return { links: [...(lacking === undefined ? [] : [lacking.link]), ...links], trouble }
}

/** Of a reference: each cluster looks for the original in itself. */
function originalLinks({ template }: ExplainSubject): Link[] {
  const referred = template?.kind === Dataset.kind ? referenceOf(template as Dataset) : undefined
  return referred === undefined
    ? []
    : [{ what: 'original', state: 'ok', says: `Dataset ${referred.namespace}/${referred.name} of each cluster` }]
}

interface Status {
  phase?: unknown
  cacheStates?: Readonly<Record<string, unknown>>
  worker?: { desiredReplicas?: unknown; readyReplicas?: unknown }
  datasetRef?: unknown
  desiredWorkerNumberScheduled?: unknown
  workerNumberReady?: unknown
  conditions?: readonly { type?: unknown; status?: unknown; message?: unknown }[]
}

/** Conditions that people have to know of, and the status with which they complain. */
const COMPLAINTS: ReadonlyMap<string, string> = new Map([
  ['NotReady', 'True'],
  ['DeletionHeld', 'True'],
  ['ConsentWithdrawn', 'True'],
  ['NameTaken', 'True'],
  ['SecondRuntime', 'True'],
  ['SourcesListed', 'False'],
  ['Served', 'False'],
  ['ScaleInHeld', 'True'],
])

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function reportsOf({ binding }: Said): Reported[] {
  return (binding?.status?.aggregatedStatus ?? []).map(({ clusterName, status }) => {
    const said = (status ?? {}) as Status
    const complaints = (Array.isArray(said.conditions) ? said.conditions : [])
      .filter(({ type, status: is }) => COMPLAINTS.get(textOf(type)) === is)
      .map(({ message, type }) => textOf(message) || textOf(type))
    return { cluster: clusterName, phase: textOf(said.phase), complaints, figures: figuresIn(said) }
  })
}

function figuresIn({ cacheStates, datasetRef, worker, desiredWorkerNumberScheduled, workerNumberReady }: Status): string[] {
  const cached = textOf(cacheStates?.cached)
  const [ready, wanted] = [worker?.readyReplicas ?? workerNumberReady, worker?.desiredReplicas ?? desiredWorkerNumberScheduled]
  return [
    ...(cached === '' ? [] : [`${cached} cached`]),
    ...(Array.isArray(datasetRef) && datasetRef.length > 0
      ? [datasetRef.length === 1 ? '1 reference' : `${datasetRef.length} references`]
      : []),
    ...(typeof wanted === 'number' ? [`${typeof ready === 'number' ? ready : 0} of ${wanted} workers ready`] : []),
  ]
}

const BOUND_PHASES = ['Bound', 'Updating', 'DataMigrating']

const isWaiting = ({ phase, complaints }: Reported, isDataset: boolean): boolean =>
  complaints.length > 0 || (isDataset && !BOUND_PHASES.includes(phase))

const saidIn = ({ phase, complaints }: Reported): string =>
  short([phase || 'it has not reported yet', ...complaints.slice(0, 1)].join(': '))

const commandFor = ({ resource, namespace, name }: Said, cluster: string): string =>
  `sluice why ${resource.kind.toLowerCase()}/${name} -n ${namespace} --context ${cluster}`

function clusterLink(one: Reported, subject: Said, waits: boolean): Link {
  const { cluster, phase, complaints, figures } = one
  const place = phase === '' ? `in ${cluster}` : `${phase} in ${cluster}`
  const shown = waits ? complaints.slice(0, 1) : figures
  return {
    what: 'data',
    state: !waits ? 'ok' : phase === 'Failed' ? 'fails' : 'waits',
    says: short(shown.length === 0 ? place : `${place}: ${shown.join(', ')}`),
    more: [...complaints.slice(1, MOST_SHOWN).map(short), commandFor(subject, cluster)],
  }
}

/** Whether the original exists is not said either. */
function refusalIn(dataset: Dataset, waiting: readonly Reported[]): Seen['refusal'] {
  const referred = referenceOf(dataset)
  if (referred === undefined) return undefined
  const texts = [withheldText, withdrawnText].map((text) => text(dataset.metadata.namespace ?? '', referred))
  const text = waiting.flatMap(({ complaints }) => complaints).find((complaint) => texts.includes(complaint))
  return text === undefined ? undefined : { text, owner: referred.namespace }
}

async function neededBy(dataset: Dataset, hub: Client): Promise<Needed | undefined> {
  const { namespace = '', name = '', annotations = {} } = dataset.metadata
  const referred = referenceOf(dataset)
  if (referred !== undefined) {
    const shown = `Dataset ${referred.namespace}/${referred.name}`
    return placeOf(hub, { what: 'original', resource: DATASETS as Resource, namespace: referred.namespace, name: referred.name, shown })
  }
  // Each cluster makes it for itself.
  if (annotations[CLASS] !== undefined) return undefined
  const found = await Promise.all(
    runtimeKinds.map(({ kind, resource }) =>
      placeOf(hub, { what: 'runtime', resource: resource as Resource, namespace, name, shown: `${kind} ${name}` }),
    ),
  )
  const nothing: Needed = { what: 'runtime', name: `a runtime ${name}`, is: 'not-there', clusters: [] }
  return found.find(({ is }) => is !== 'not-there' && is !== 'hidden') ?? found.find(({ is }) => is === 'hidden') ?? nothing
}

interface Asked {
  what: Needed['what']
  resource: Resource
  namespace: string
  name: string
  shown: string
}

async function placeOf(hub: Client, { what, resource, namespace, name, shown }: Asked): Promise<Needed> {
  const of = (is: Needed['is'], clusters: readonly string[] = []): Needed => ({ what, name: shown, is, clusters })
  const [template, binding] = await Promise.all([
    got(hub, resource, { namespace, name }),
    got<Binding>(hub, RESOURCE_BINDINGS as Resource<Binding>, { namespace, name: bindingName(resource.kind, name) }),
  ])
  if (template === undefined) return of('not-there')
  if (template === FORBIDDEN || binding === FORBIDDEN) return of('hidden')
  const { clusters = [], requiredBy = [] } = binding?.spec ?? {}
  const names = [...clusters, ...requiredBy.flatMap((one) => one.clusters ?? [])].map((one) => one.name)
  return names.length === 0 ? of('not-carried') : of('carried', [...new Set(names)].sort())
}

/** What is to be said of what it needs, and what to do where that does not go. */
function lackOf({ what, name, is, clusters }: Needed, waiting: readonly Reported[]): { link: Link; trouble?: Trouble } {
  const elsewhere = waiting.map(({ cluster }) => cluster).filter((cluster) => !clusters.includes(cluster))
  if (is === 'hidden') return { link: { what, state: 'ok', says: `${name} may not be read by you` } }
  if (is === 'carried' && elsewhere.length === 0) return { link: { what, state: 'ok', says: `${name} goes to ${listed(clusters)}` } }
  const says =
    is === 'not-there'
      ? `${name} is not on the hub`
      : is === 'not-carried'
        ? `${name} is on the hub, and no policy carries it`
        : `${name} goes to ${listed(clusters)}, and not to ${listed(elsewhere)}`
  const where = listed(elsewhere)
  const along = what === 'runtime' ? `, or set propagateDeps: true in the policy of the dataset` : ''
  const fix =
    is === 'not-there'
      ? `create it on the hub, with a policy that carries it to ${where}, or in ${where} itself`
      : `let a policy carry it to ${where} as well${along}`
  return { link: { what, state: 'waits', says: short(says) }, trouble: { state: 'waits', says: short(says), fix } }
}

const listed = (names: readonly string[]): string =>
  [...names.slice(0, MOST_SHOWN), ...(names.length > MOST_SHOWN ? [`${names.length - MOST_SHOWN} more`] : [])].join(', ')
