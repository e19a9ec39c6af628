/**
 * Which claims concern a template, through indexes: those it names itself, those that name it, and those whose selector
 * matches its labels. Claims act in their own namespace only.
 */
import { parseClaims } from '../../kinds/volcano/annotations.ts'
import type { DataSourceClaim } from '../../kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS } from '../../kinds/volcano/resources.ts'
import { CLAIMS_ANNOTATION } from '../../kinds/volcano/well-known.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { type KubeObject, parseGroupVersion } from '../../kube/meta.ts'
import { type Parsed, parsed } from '../../kube/parsed.ts'
import { matchesLabels, selectorFromObject } from '../../kube/selector.ts'
import { equalityKeys, labelKeys } from '../../kube/selector-keys.ts'
import { type Index, indexOf, type Reader } from '../../runtime/controller.ts'

const BY_WORKLOAD = 'gate.claims-by-workload'
const BY_LABEL = 'gate.claims-by-label'

/** Parts are separated by a character that none of them can contain. */
const workloadKey = (...parts: readonly string[]): string => parts.join('\0')

export const CLAIMS_OF_INDEXES: readonly Index[] = Object.freeze([
  indexOf(DATA_SOURCE_CLAIMS, BY_WORKLOAD, ({ metadata: { namespace = '' }, spec }) => {
    const workload = spec?.workload
    return workload === undefined
      ? []
      : [workloadKey(namespace, parseGroupVersion(workload.apiVersion).group, workload.kind, workload.name)]
  }),
  indexOf(DATA_SOURCE_CLAIMS, BY_LABEL, ({ metadata: { namespace = '' }, spec }) => {
    if (spec?.workloadSelector === undefined) return []
    const keys = equalityKeys(spec.workloadSelector)
    return keys.length === 0 ? [namespace] : keys.map((key) => `${namespace} ${key}`)
  }),
])

/** How claims are found: through the caches of a controller, or through an informer. */
export interface ClaimLookup {
  get(namespace: string, name: string): DataSourceClaim | undefined
  byIndex(index: string, value: string): readonly DataSourceClaim[]
}

export const lookupOf = (read: Reader): ClaimLookup => ({
  get: (namespace, name) => read.get(DATA_SOURCE_CLAIMS, namespace, name),
  byIndex: (index, value) => read.byIndex(DATA_SOURCE_CLAIMS, index, value),
})

export interface ClaimsOf {
  /** Sorted by name. */
  claims: readonly DataSourceClaim[]
  /** Claims that it names and that do not exist. */
  missing: readonly string[]
  /** What is wrong with the annotation in which it names them. */
  unreadable?: string
}

const NO_CLAIMS: ClaimsOf = Object.freeze({ claims: [], missing: [] })

/** `isWorkload`: whether selectors of workloads may select it. */
export function claimsOf(template: KubeObject, isWorkload: boolean, lookup: ClaimLookup): ClaimsOf {
  const { namespace } = template.metadata
  if (namespace === undefined) return NO_CLAIMS
  const found = new Map<string, DataSourceClaim>()
  const take = (claim: DataSourceClaim): void => {
    if (claim.metadata.deletionTimestamp === undefined) found.set(claim.metadata.name ?? '', claim)
  }
  for (const claim of claimsOnTemplate(template, isWorkload, lookup)) take(claim)
  const named = namedClaims(template)
  const missing: string[] = []
  for (const name of named.value ?? []) {
    const claim = lookup.get(namespace, name)
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) missing.push(name)
    else take(claim)
  }
  const claims = [...found.values()].sort((a, b) => compareStrings(a.metadata.name ?? '', b.metadata.name ?? ''))
  return { claims, missing, ...(named.error === undefined ? {} : { unreadable: named.error }) }
}

/** What it says itself in `sluice.dev/claims`. */
export function namedClaims({ metadata: { namespace, annotations } }: KubeObject): Parsed<readonly string[]> {
  const text = annotations?.[CLAIMS_ANNOTATION]
  return text === undefined || namespace === undefined ? parsed([]) : parseClaims(text)
}

/** Claims that name it or select it. */
function* claimsOnTemplate(template: KubeObject, isWorkload: boolean, lookup: ClaimLookup): Iterable<DataSourceClaim> {
  const { namespace = '', name = '', labels } = template.metadata
  yield* lookup.byIndex(BY_WORKLOAD, workloadKey(namespace, parseGroupVersion(template.apiVersion).group, template.kind, name))
  if (!isWorkload) return
  for (const key of [namespace, ...labelKeys(labels).map((label) => `${namespace} ${label}`)])
    for (const claim of lookup.byIndex(BY_LABEL, key)) if (selects(claim, labels)) yield claim
}

function selects({ spec }: DataSourceClaim, labels: Readonly<Record<string, string>> | undefined): boolean {
  const { value, error } = selectorFromObject(spec?.workloadSelector)
  return error === undefined && value !== undefined && value.length > 0 && matchesLabels(value, labels)
}
