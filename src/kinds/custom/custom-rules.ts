/**
 * The rules of custom resources: what each subresource may change, generation, and validation by the schema of the object's
 * version. Kubernetes has one strategy per served version; here one set of rules looks the version up.
 */
import { deepClone, deepEqual } from '../../base/json.ts'
import { type FieldError, invalid } from '../../kube/field-error.ts'
import { goPrint } from '../../kube/go-print.ts'
import { compileJsonPath } from '../../kube/json-path.ts'
import { type KubeObject, parseGroupVersion } from '../../kube/meta.ts'
import { checkQualifiedName } from '../../kube/names.ts'
import type { KindRules, RuleContext } from '../kind.ts'
import type { CrdScale, CrdVersion } from './crd.ts'
import { validateScale } from './scale.ts'
import type { Structural } from './structural.ts'

export interface CompiledVersion {
  version: CrdVersion
  structural: Structural
  hasStatus: boolean
  scale: CrdScale | undefined
}

export function customResourceRules(kind: string, versions: ReadonlyMap<string, CompiledVersion>): KindRules {
  const of = (object: KubeObject): CompiledVersion | undefined => versions.get(parseGroupVersion(object.apiVersion).version)
  return {
    applyDefaults: (object) => of(object)?.structural.applyDefaults(object),
    prepareForCreate(object) {
      if (of(object)?.hasStatus) delete object.status
      object.metadata.generation = 1
    },
    prepareForUpdate(object, old, context) {
      if (context.subresource === 'status') keepAllButStatus(object, old)
      else keepStatus(object, old, of(object)?.hasStatus === true)
    },
    validateCreate(object) {
      const compiled = of(object)
      if (object.kind !== kind || compiled === undefined) return [invalid('kind', object.kind, `must be ${kind}`)]
      const { structural, scale } = compiled
      return [
        ...structural.validateValues(object),
        ...validateScale(object, scale, ['spec', 'status']),
        ...structural.validateEmbedded(object),
        ...structural.validateListTypes(object),
      ]
    },
    validateUpdate(object, old, context) {
      const compiled = of(object)
      if (object.kind !== kind || compiled === undefined) return [invalid('kind', object.kind, `must be ${kind}`)]
      return context.subresource === 'status' ? validateStatus(compiled, object, old) : validateWhole(compiled, object, old)
    },
    warnings: (object, old, context) => finalizerWarnings(object, old, context),
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    ...selection(versions, of),
  }
}

function validateWhole({ structural, scale }: CompiledVersion, object: KubeObject, old: KubeObject): FieldError[] {
  return [
    ...structural.validateValues(object, old),
    ...validateScale(object, scale, ['spec', 'status']),
    ...structural.validateEmbedded(object),
    ...structural.validateListTypes(object, old),
  ]
}

function validateStatus({ structural, scale }: CompiledVersion, object: KubeObject, old: KubeObject): FieldError[] {
  return [
    ...structural.validateStatusValues(object, old),
    ...validateScale(object, scale, ['status']),
    ...structural.validateListTypes(object, old),
  ]
}

/** The status subresource changes nothing else, not even labels; managed fields may change with it. */
function keepAllButStatus(object: KubeObject, old: KubeObject): void {
  const { status } = object
  const hasStatus = Object.hasOwn(object, 'status')
  const { managedFields } = object.metadata
  for (const key of Object.keys(object)) delete object[key]
  Object.assign(object, deepClone(old))
  if (managedFields === undefined) delete object.metadata.managedFields
  else object.metadata.managedFields = managedFields
  if (hasStatus) object.status = status
  else delete object.status
}

/** With a status subresource the main resource cannot change status; any change outside metadata is a new generation. */
function keepStatus(object: KubeObject, old: KubeObject, hasStatus: boolean): void {
  if (hasStatus) {
    if (Object.hasOwn(old, 'status')) object.status = deepClone(old.status)
    else delete object.status
  }
  const changed = !deepEqual({ ...object, metadata: undefined }, { ...old, metadata: undefined, apiVersion: object.apiVersion })
  const generation = (old.metadata.generation ?? 0) + (changed ? 1 : 0)
  if (generation > 0) object.metadata.generation = generation
}

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])

function finalizerWarnings(object: KubeObject, old: KubeObject | undefined, context: RuleContext): string[] {
  if (context.subresource === 'status') return []
  const known = new Set(old?.metadata.finalizers ?? [])
  const added = [...new Set(object.metadata.finalizers ?? [])].filter((f) => !known.has(f)).sort()
  return added.flatMap((finalizer) => {
    const about = `metadata.finalizers: ${JSON.stringify(finalizer)}: `
    const warnings = checkQualifiedName(finalizer).map((message) => about + message)
    if (!finalizer.includes('/') && !STANDARD_FINALIZERS.has(finalizer)) {
      const path = finalizer.includes('.') ? ' including a path (/)' : ''
      warnings.push(`${about}prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`)
    }
    return warnings
  })
}

/** Fields a selector may name, for the version an object is in. */
function selection(
  versions: ReadonlyMap<string, CompiledVersion>,
  of: (object: KubeObject) => CompiledVersion | undefined,
): Pick<KindRules, 'selectableFields' | 'selectableFieldNames'> {
  const paths = new Map(
    [...versions.values()]
      .flatMap(({ version }) => version.selectableFields ?? [])
      .map(({ jsonPath }) => [jsonPath, compileJsonPath(jsonPath)]),
  )
  if (paths.size === 0) return {}
  const nameOf = (jsonPath: string) => jsonPath.replace(/^\./, '')
  return {
    selectableFieldNames: [...paths.keys()].map(nameOf),
    selectableFields: (object) =>
      Object.fromEntries(
        (of(object)?.version.selectableFields ?? []).map(({ jsonPath }) => {
          const found = paths.get(jsonPath)?.value?.(object)[0]
          return [nameOf(jsonPath), found === undefined || found === null ? '' : goPrint(found)]
        }),
      ),
  }
}
