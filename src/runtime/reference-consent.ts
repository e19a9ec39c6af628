/**
 * Whether an object may refer to an object of another namespace. The owner of that namespace decides, with Gateway API's
 * ReferenceGrants: once one of them names the kind, only what they permit is permitted, and a grant for one object closes all
 * others of its kind. Where the owner has stated nothing about the kind, the option `--reference-consent` decides. Answers
 * depend on grants and that option only, never on whether an object exists, and a grant counts in its own namespace only.
 */
import { ReferenceGrant } from '../kinds/gateway/reference-grant.ts'
import { parsed, unparsed } from '../kube/parsed.ts'
import { type Index, indexOf, type Reader } from './controller.ts'
import type { Flag, FlagCommand } from './module/flags.ts'

/** What holds where an owner has stated nothing: `open` permits, `grant` refuses. */
export type ReferenceConsent = 'open' | 'grant'

/** Objects of one kind in one namespace. */
export interface ReferenceFrom {
  group: string
  kind: string
  namespace: string
}

export interface ReferenceKind {
  group: string
  kind: string
}

/** `namespace` is that of the owner. */
export interface ReferenceTo extends ReferenceKind {
  namespace: string
  name: string
}

/** Where the answer comes from: a reader with `GRANT_INDEXES`, and the option. */
export interface ConsentSource {
  read: Pick<Reader, 'byIndex'>
  mode: ReferenceConsent
}

const INTO = 'consent-into'
const ABOUT = 'consent-about'

/** Declare them in `indexes` to use `isPermitted` and `mayBeWithheld`, and watch the grants (`isAbout`). */
export const GRANT_INDEXES: readonly Index[] = [
  indexOf(ReferenceGrant.resource, INTO, (grant) => statedKinds(grant).map((kind) => `${namespaceOf(grant)}|${kind}`)),
  indexOf(ReferenceGrant.resource, ABOUT, (grant) => statedKinds(grant)),
]

export function isPermitted(from: ReferenceFrom, to: ReferenceTo, { read, mode }: ConsentSource): boolean {
  if (from.namespace === to.namespace) return true
  return isPermittedBy(read.byIndex(ReferenceGrant.resource, INTO, `${to.namespace}|${keyOfKind(to)}`), { from, to, mode })
}

/** For who has no index, such as admission: from all grants of the owner's namespace. */
export const isPermittedAmong = (
  grants: readonly ReferenceGrant[],
  { from, to, mode }: { from: ReferenceFrom; to: ReferenceTo; mode: ReferenceConsent },
): boolean =>
  from.namespace === to.namespace ||
  isPermittedBy(
    grants.filter((grant) => namespaceOf(grant) === to.namespace && statedKinds(grant).includes(keyOfKind(to))),
    { from, to, mode },
  )

const isPermittedBy = (
  grants: readonly ReferenceGrant[],
  { from, to, mode }: { from: ReferenceFrom; to: ReferenceTo; mode: ReferenceConsent },
): boolean => (grants.length === 0 ? mode === 'open' : grants.some((grant) => permits(grant, from, to)))

/**
 * Whether there can be an object of this kind, existing or not, that `from` may not refer to: then a message must not tell
 * one that is refused from one that does not exist. Takes time in proportion to the grants about the kind.
 */
export function mayBeWithheld(from: ReferenceFrom, to: ReferenceKind, { read, mode }: ConsentSource): boolean {
  if (mode === 'grant') return true
  const grants = read.byIndex(ReferenceGrant.resource, ABOUT, keyOfKind(to)).filter((grant) => namespaceOf(grant) !== from.namespace)
  const consenting = new Set(grants.filter((grant) => permits(grant, from, to)).map(namespaceOf))
  return grants.some((grant) => !consenting.has(namespaceOf(grant)))
}

/**
 * For triggers: whether a change of this grant can change an answer about this kind. If so, it can for references from
 * anywhere into the grant's namespace, not only for those it names: the first grant closes what was open, the last opens it.
 * `mayBeWithheld` can change for everybody.
 */
export const isAbout = (grant: ReferenceGrant, to: ReferenceKind): boolean => targetsOf(grant, to).length > 0

/** The options of a module that asks. */
export interface ConsentOptions {
  referenceConsent?: ReferenceConsent
}

/** For `commandDefaults`: manifests work as they are on a cluster of one's own, and tenants of a shared one are asked first. */
export const CONSENT_DEFAULTS: Readonly<Record<FlagCommand, Readonly<Required<ConsentOptions>>>> = {
  up: { referenceConsent: 'open' },
  controllers: { referenceConsent: 'grant' },
}

export const consentFlag = <Options extends ConsentOptions>(): Flag<Options> => ({
  flag: '--reference-consent <mode>',
  about: 'references into a namespace without a ReferenceGrant for the kind: open or grant (default open; grant for controllers)',
  read(text, options) {
    if (text !== 'open' && text !== 'grant') return unparsed(`--reference-consent is open or grant, not ${JSON.stringify(text)}`)
    return parsed({ ...options, referenceConsent: text })
  },
})

const namespaceOf = ({ metadata }: ReferenceGrant): string => metadata.namespace ?? ''

const keyOfKind = ({ group, kind }: ReferenceKind): string => `${group}|${kind}`

/** Of a grant that is being deleted: none, its owner has withdrawn it. */
const statedKinds = (grant: ReferenceGrant): string[] =>
  grant.metadata.deletionTimestamp === undefined ? [...new Set(specOf(grant).to.map(keyOfKind))] : []

/** Without a name in `to`: whether every object of the kind is permitted. */
const permits = (grant: ReferenceGrant, from: ReferenceFrom, to: ReferenceKind & { name?: string }): boolean =>
  specOf(grant).from.some(({ group, kind, namespace }) => group === from.group && kind === from.kind && namespace === from.namespace) &&
  targetsOf(grant, to).some(({ name }) => name === undefined || name === to.name)

const targetsOf = (grant: ReferenceGrant, { group, kind }: ReferenceKind) =>
  specOf(grant).to.filter((one) => one.group === group && one.kind === kind)

/** The upstream definition does not require a spec. */
const specOf = (grant: Partial<Pick<ReferenceGrant, 'spec'>>): ReferenceGrant['spec'] => grant.spec ?? { from: [], to: [] }
