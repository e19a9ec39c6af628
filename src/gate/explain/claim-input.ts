/**
 * Reads what concerns a claim: its source or what could be one, the clusters, and its workloads with their bindings. One
 * request for each kind of workload that the hub serves, for metadata only, and a few more.
 */
import type { Client } from '../../client/client.ts'
import { FORBIDDEN, type Got, got, type Listed, listFirst, NONE } from '../../client/read-as-caller.ts'
import type { ResourceBinding } from '../../kinds/karmada/index.ts'
import { bindingName } from '../../kinds/karmada/names.ts'
import { RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { compareStrings } from '../../kube/go-print.ts'
import type { Resource } from '../../kube/resource.ts'
import { HELD_BY, RELEASED } from '../../runtime/seams/narrowing.ts'
import { boundSourceOf } from '../claim/state.ts'
import { claimsOf } from '../narrowing/claims-of.ts'
import { readRelease } from '../narrowing/release.ts'
import { WORKLOAD_KINDS } from '../workload/index.ts'
import { type ClaimedWorkload, type ClaimInput, namesObject } from './claim.ts'
import { lookupIn, readClusters } from './workload-input.ts'

/** Workloads that are shown. */
const MOST_SHOWN = 10

export async function readClaimInput(hub: Client, claim: DataSourceClaim, served: readonly Resource[]): Promise<ClaimInput> {
  const name = boundSourceOf(claim)
  const [bound, sources, clusters, bindings, templates] = await Promise.all([
    name === undefined ? undefined : got<DataSource>(hub, DATA_SOURCES, { name }),
    name === undefined ? readSources(hub, claim) : NONE,
    readClusters(hub),
    listFirst<ResourceBinding>(hub, RESOURCE_BINDINGS, { namespace: claim.metadata.namespace }),
    readWorkloads(hub, claim, served),
  ])
  const found = withMarked(templates.found, bindings.items, claim)
  const workloads = await Promise.all(found.slice(0, MOST_SHOWN).map((workload) => withBinding(hub, workload, { claim, bindings })))
  return {
    claim,
    bound,
    sources,
    clusters,
    workloads,
    otherWorkloads: Math.max(0, found.length - MOST_SHOWN),
    isIncomplete: templates.isIncomplete || bindings.isCut,
  }
}

/** A claim that names an object has to do with no other. */
async function readSources(hub: Client, claim: DataSourceClaim): Promise<Listed<DataSource>> {
  if (!namesObject(claim)) return listFirst<DataSource>(hub, DATA_SOURCES)
  const source = await got<DataSource>(hub, DATA_SOURCES, { name: claim.spec.dataSourceName ?? '' })
  return { ...NONE, items: source === undefined || source === FORBIDDEN ? [] : [source], isForbidden: source === FORBIDDEN }
}

type Found = Omit<ClaimedWorkload, 'binding'>

interface Workloads {
  found: readonly Found[]
  isIncomplete: boolean
}

/** Workloads of the known kinds that the claim concerns. */
async function readWorkloads(hub: Client, claim: DataSourceClaim, served: readonly Resource[]): Promise<Workloads> {
  const { namespace } = claim.metadata
  const kinds = served.filter(({ group, kind }) => WORKLOAD_KINDS.some((known) => known.group === group && known.kind === kind))
  const lookup = lookupIn([claim])
  const lists = await Promise.all(kinds.map((kind) => listFirst(hub, kind, { namespace, isMetadata: true })))
  const named: Found[] = claim.spec?.workload === undefined ? [] : [claim.spec.workload]
  const found = lists.flatMap(({ items }) => items.filter((template) => claimsOf(template, true, lookup).claims.length > 0))
  return {
    found: unique([...named, ...found.map(({ apiVersion, kind, metadata }) => ({ apiVersion, kind, name: metadata.name ?? '' }))]),
    isIncomplete: lists.some(({ isCut, isForbidden }) => isCut || isForbidden),
  }
}

/** Those of other kinds are known by their bindings. */
function withMarked(found: readonly Found[], bindings: readonly ResourceBinding[], claim: DataSourceClaim): readonly Found[] {
  const { name = '' } = claim.metadata
  const marked = bindings.flatMap(({ metadata, spec }) => {
    const { [HELD_BY]: by = '', [RELEASED]: released } = metadata.annotations ?? {}
    const isMarked = by.split(', ').includes(`DataSourceClaim/${name}`) || Object.hasOwn(readRelease(released)?.claims ?? {}, name)
    const { apiVersion, kind, name: of } = spec?.resource ?? {}
    return !isMarked || apiVersion === undefined || kind === undefined || of === undefined ? [] : [{ apiVersion, kind, name: of }]
  })
  return unique([...found, ...marked]).toSorted((a, b) => compareStrings(a.kind, b.kind) || compareStrings(a.name, b.name))
}

/** Bindings have the name of the workload and its kind in theirs: two of one kind and name are the same here. */
const unique = (found: readonly Found[]): readonly Found[] => [
  ...new Map(found.map(({ apiVersion, kind, name }) => [bindingName(kind, name), { apiVersion, kind, name }])).values(),
]

async function withBinding(
  hub: Client,
  workload: Found,
  { claim, bindings }: { claim: DataSourceClaim; bindings: Listed<ResourceBinding> },
): Promise<ClaimedWorkload> {
  const name = bindingName(workload.kind, workload.name)
  const { namespace } = claim.metadata
  const listed: Got<ResourceBinding> = bindings.isForbidden ? FORBIDDEN : bindings.items.find(({ metadata }) => metadata.name === name)
  const binding = listed === undefined && bindings.isCut ? await got<ResourceBinding>(hub, RESOURCE_BINDINGS, { namespace, name }) : listed
  return { ...workload, binding }
}
