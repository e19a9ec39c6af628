/** What a Work records about its overrides: JSON in two annotations, as Karmada prints it, so that equal overrides are equal texts. */
import { isJsonObject, setOwn } from '../../base/json.ts'
import type { FieldPatch, Overriders } from '../../kinds/karmada/index.ts'
import { APPLIED_CLUSTER_OVERRIDES, APPLIED_OVERRIDES } from '../../kinds/karmada/well-known.ts'
import { compareStrings, goJson } from '../../kube/go-print.ts'

export interface AppliedOverride {
  policyName: string
  overriders: Overriders
}

interface Applied {
  appliedClusterOverrides: readonly AppliedOverride[]
  appliedOverrides: readonly AppliedOverride[]
}

/** Only for overrides that were applied. */
export function appliedAnnotations({ appliedClusterOverrides, appliedOverrides }: Applied): Record<string, string> {
  return {
    ...(appliedClusterOverrides.length === 0 ? {} : { [APPLIED_CLUSTER_OVERRIDES]: appliedJson(appliedClusterOverrides) }),
    ...(appliedOverrides.length === 0 ? {} : { [APPLIED_OVERRIDES]: appliedJson(appliedOverrides) }),
  }
}

/** Sorted by policy; rules of one policy keep their order. */
const appliedJson = (applied: readonly AppliedOverride[]): string =>
  goJson(
    applied
      .toSorted((a, b) => compareStrings(a.policyName, b.policyName))
      .map(({ policyName, overriders }) => ({ policyName, overriders: printed(overriders) })),
  )

/** The fields in the order of Go's structs, without empty ones; an arbitrary JSON value is always printed. */
function printed(overriders: Overriders): object {
  const { plaintext, imageOverrider, commandOverrider, argsOverrider, labelsOverrider, annotationsOverrider, fieldOverrider } = overriders
  const map = (list: Overriders['labelsOverrider']) => list?.map(({ operator, value }) => ({ operator, value: sorted(value) }))
  const texts = (list: Overriders['argsOverrider']) =>
    list?.map(({ containerName, operator, value }) => ({ containerName, operator, value: unlessEmpty(value) }))
  return {
    plaintext: unlessEmpty(plaintext?.map(({ path, operator, value }) => ({ path, operator, value: sorted(value) }))),
    imageOverrider: unlessEmpty(
      imageOverrider?.map(({ predicate, component, operator, value }) => ({ predicate, component, operator, value: value || undefined })),
    ),
    commandOverrider: unlessEmpty(texts(commandOverrider)),
    argsOverrider: unlessEmpty(texts(argsOverrider)),
    labelsOverrider: unlessEmpty(map(labelsOverrider)),
    annotationsOverrider: unlessEmpty(map(annotationsOverrider)),
    fieldOverrider: unlessEmpty(
      fieldOverrider?.map(({ fieldPath, json, yaml }) => ({ fieldPath, json: patches(json), yaml: patches(yaml) })),
    ),
  }
}

const patches = (list: readonly FieldPatch[] | undefined) =>
  unlessEmpty(list?.map(({ subPath, operator, value }) => ({ subPath, operator, value: sorted(value) })))

const unlessEmpty = <T>(list: readonly T[] | undefined): readonly T[] | undefined =>
  list === undefined || list.length === 0 ? undefined : list

/** Keys sorted at every depth, as Go prints maps; absent becomes null. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isJsonObject(value)) return value ?? null
  const copy = {}
  for (const key of Object.keys(value).sort(compareStrings)) setOwn(copy, key, sorted(value[key]))
  return copy
}
