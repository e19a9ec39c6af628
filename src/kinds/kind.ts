/**
 * What the server must know to serve a kind. Built-in kinds fill it from the facts and from rules written by hand, our
 * own kinds from their schema, custom resources from their CustomResourceDefinition: the server treats them alike.
 */
import type { FieldError } from '../kube/field-error.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Schema } from '../kube/schema.ts'

export interface UserInfo {
  name: string
  uid?: string
  groups: string[]
  extra?: Record<string, string[]>
}

/** What rules may know besides the object: time, randomness and the user are values. */
export interface RuleContext {
  operation: 'create' | 'update'
  /** '' for the object itself, else 'status', 'scale', 'ephemeralcontainers', … */
  subresource: string
  /** Now, as metav1.Time. */
  now: string
  user: UserInfo
  /** A unique name. */
  newUid?(): string
}

/** How often a kind validates metadata itself: visible only in the number of causes of an error. */
export interface MetadataPasses {
  /** Against the stored object. */
  asChange: number
  /** As if the object were new. */
  asNew: number
}

export interface MetadataChecks {
  /** A finalizer without a domain must be one that Kubernetes knows. */
  standardFinalizers: boolean
  /** A new object's metadata is validated only when nothing else is wrong with it. */
  afterOwnChecks?: boolean
  update: MetadataPasses
  /** For writes to subresources. */
  status: MetadataPasses
}

/**
 * The hand-written behaviour of a kind (Kubernetes calls it defaulting and strategy). Every function is pure except for
 * changing the object it is given, which is a private mutable copy in the version it was sent in (see `version`).
 * Order on create: applyDefaults → admission → prepareForCreate → validateCreate → warnings → applyDefaults, as what is
 * stored is read again with defaults.
 */
export interface KindRules {
  /** Defaults that the real server fills in on decoding; idempotent. `version` is the API version of the object. */
  applyDefaults?(object: KubeObject, version: string): void
  prepareForCreate?(object: KubeObject, context: RuleContext): void
  /** For the object itself and for subresource 'status': put back what it may not change, bump generation. */
  prepareForUpdate?(object: KubeObject, old: KubeObject, context: RuleContext): void
  validateCreate?(object: KubeObject, context: RuleContext): FieldError[]
  validateUpdate?(object: KubeObject, old: KubeObject, context: RuleContext): FieldError[]
  warnings?(object: KubeObject, old: KubeObject | undefined, context: RuleContext): string[]
  /** Errors of a name (or, with `prefix`, of a generateName); default: DNS subdomain. */
  validateName?(name: string, prefix: boolean): string[]
  /** PUT of an absent object creates it (default false). */
  allowCreateOnUpdate?: boolean
  /** PUT without a resourceVersion overwrites (default true for built-in kinds, false for custom resources). */
  allowUnconditionalUpdate?: boolean
  /** metadata.generation starts at 1 and grows when spec changes (default false for built-in kinds). */
  tracksGeneration?: boolean
  /** Grace for a delete without one, and the cap rules of pods; absent: deletes are immediate. */
  graceOnDelete?(object: KubeObject, requestedSeconds: number | undefined): number
  /** What keeps a deleted object alive besides metadata.finalizers (a namespace's spec.finalizers). */
  holdsDeletion?(object: KubeObject): boolean
  /** Marks an object as being deleted where that is more than a timestamp (a namespace's phase). */
  markDeleting?(object: KubeObject, now: string): void
  /** An immediate delete answers with the deleted object instead of a Status. */
  returnsDeletedObject?: boolean
  /** How the kind itself validates metadata, besides the general check; default: as custom resources do. */
  metadataChecks?: MetadataChecks
  /** A deletion adds a finalizer that its own controller removes; the first request leaves the other finalizers alone. */
  endsByOwnFinalizer?: boolean
  /** What `delete` does without a propagation policy: 'orphan' for Jobs of batch/v1. 'none': nothing, with any policy. Default background. */
  defaultPropagation?: 'background' | 'orphan' | 'none'
  /** The warning when a delete leaves the policy to the default. */
  orphansByDefaultWarning?: string
  /** Annotations that stand for fields: they appear on the object, but not where only its metadata is shown. */
  annotationsOfFields?: readonly string[]
  /** Fields usable in a fieldSelector besides metadata.name and metadata.namespace, with their value ('' when unset). */
  selectableFields?(object: KubeObject): Record<string, string>
  /** The names `selectableFields` returns, to reject others. */
  selectableFieldNames?: readonly string[]
}

/** A cell is a JSON scalar; `<age>`-like durations are rendered by the row function from `nowMs`. */
export interface Column {
  name: string
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  format?: string
  description?: string
  priority?: number
}

export interface TablePrinter {
  columns: readonly Column[]
  row(object: KubeObject, nowMs: number): { cells: unknown[]; conditions?: unknown[] }
}

export interface KindVersion {
  name: string
  served: boolean
  /** Linked schema of the whole object (metadata included). Absent only for kinds that are never stored. */
  schema: Schema
  deprecated?: boolean
  deprecationWarning?: string
  /**
   * Schema-pruned kinds: removes in place what the schema does not know and what metadata cannot hold, and returns the paths
   * removed (`metadata.x`, `spec.list[0].y`; in the order of the warnings), or `error` when the object cannot be decoded at all.
   * Defaults are not part of it (`rules.applyDefaults`).
   */
  coerce?(object: KubeObject): { unknown: string[]; error?: string }
  /** Columns of `kubectl get`; default Name and Age (custom resources) or Name and Created At. */
  printer?: TablePrinter
}

export interface ScaleMapping {
  specReplicasPath: string
  statusReplicasPath: string
  labelSelectorPath?: string
}

export interface SubresourceInfo {
  name: string
  verbs: readonly string[]
  /** Kind of the answer, when not the parent's own. */
  responseKind?: { group: string; version: string; kind: string }
}

/** The schemas published for one served version of a schema-pruned kind, by definition name. */
export interface PublishedVersion {
  version: string
  /** Definition name of the kind, e.g. `com.example.v1.Widget`; `listName` is that of its list. */
  name: string
  listName: string
  /** Those of this version: status, scale. */
  subresources: readonly string[]
  v3: Record<string, Record<string, unknown>>
  v2: Record<string, Record<string, unknown>>
}

export interface KindDefinition {
  group: string
  kind: string
  listKind: string
  plural: string
  singular: string
  shortNames: readonly string[]
  categories: readonly string[]
  namespaced: boolean
  verbs: readonly string[]
  versions: readonly KindVersion[]
  storageVersion: string
  subresources: readonly SubresourceInfo[]
  scale?: ScaleMapping
  rules: KindRules
  /** Where objects are stored when not under `group/plural` (core and events.k8s.io Events share a place). */
  storageKey?: string
  /** apiVersion of stored objects when it is not this group's storage version (events.k8s.io Events are stored as core ones). */
  storageApiVersion?: string
  /** Between served and stored versions, given by apiVersion (`autoscaling/v2`); absent: only apiVersion changes. Pure. */
  convert?(object: KubeObject, toApiVersion: string): KubeObject
  /** Schema-pruned kinds: a conversion changes apiVersion, and then only prunes and defaults. */
  isSameInAllVersions?: boolean
  /**
   * Schema-pruned kinds: a stored object as the current schema reads it (pruned, defaulted), in the storage version. Returns the
   * same frozen object when nothing changes.
   */
  readStored?(object: KubeObject): KubeObject
  /** The zero object as Go would print it, besides kind, apiVersion and metadata (bookmarks carry one). */
  emptyObject?(apiVersion: string): Record<string, unknown>
  /** The zero object as Go makes it, before any conversion: what a creation is compared with. Frozen. */
  zeroObject?(apiVersion: string): KubeObject
  /** Schema-pruned kinds: their OpenAPI, one entry per served version. Computed anew on each call. */
  publish?(): PublishedVersion[]
  /** True for kinds decoded with Go's typed rules (the built-in ones), false for schema-pruned ones. */
  builtin: boolean
}
