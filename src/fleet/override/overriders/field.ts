/** JSON or YAML inside a text field, as ConfigMaps hold it. YAML loses its comments and its formatting. */
import type { FieldOverrider, FieldPatch } from '../../../kinds/karmada/index.ts'
import { goQuote } from '../../../kube/go-print.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { inOrder, parseJson, printJson } from '../json-document.ts'
import { applyPatch, DoesNotApply, naming, type PatchOperation, valueAt } from '../json-patch.ts'
import { parseYaml } from '../yaml/document.ts'
import { printYaml } from '../yaml/print.ts'
import type { Override } from './overrider.ts'

export const overrideField: Override<FieldOverrider> = (object, { fieldPath, yaml = [], json = [] }) => {
  const text = valueAt(object, fieldPath)
  if (typeof text !== 'string') throw new DoesNotApply(`${goQuote(fieldPath)}: the field is not a text`)
  if (yaml.length === 0 && json.length === 0) return object
  const value = naming(goQuote(fieldPath), () => (yaml.length > 0 ? patchedYaml(text, yaml) : patchedJson(text, json)))
  return applyPatch(object, [{ operator: 'replace', path: fieldPath, value }]) as KubeObject
}

const operationsOf = (patches: readonly FieldPatch[]): PatchOperation[] =>
  patches.map(({ subPath, operator, value }) => ({ operator, path: subPath, value }))

const patchedYaml = (text: string, patches: readonly FieldPatch[]): string => printYaml(applyPatch(parseYaml(text), operationsOf(patches)))

function patchedJson(text: string, patches: readonly FieldPatch[]): string {
  // Empty text is not patched, as in Karmada.
  if (text === '') return text
  return printJson(
    applyPatch(
      parseJson(text),
      operationsOf(patches).map((one) => ({ ...one, value: inOrder(one.value) })),
    ),
  )
}
