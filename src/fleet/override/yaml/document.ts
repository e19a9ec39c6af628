/** YAML as Kubernetes' tools read it, for changing it and writing it again. */
import type { Json } from '../../../base/json.ts'
import { parseYamlText, YamlTextError } from '../../../kube/yaml-text.ts'
import { DoesNotApply } from '../json-patch.ts'

/** Integers that JavaScript would round are bigint. Throws DoesNotApply for invalid YAML. */
export function parseYaml(text: string): unknown {
  try {
    const { value, details } = parseYamlText(text)
    for (const [container, numbers] of details?.numbers ?? [])
      for (const [key, digits] of numbers) (container as Record<string | number, unknown>)[key] = BigInt(digits)
    return value satisfies Json
  } catch (error) {
    if (error instanceof YamlTextError) throw new DoesNotApply(`the text is not YAML: ${error.message}`)
    throw error
  }
}
