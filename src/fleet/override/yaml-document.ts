/** YAML as Kubernetes' tools read and write it: keys sorted, lists in line with their keys, quotes as Go sets them. */
import { Document, isScalar, Scalar, visit } from 'yaml'
import type { Json } from '../../base/json.ts'
import { resolvePlain } from '../../kube/yaml-scalars.ts'
import { parseYamlText, YamlTextError } from '../../kube/yaml-text.ts'
import { DoesNotApply } from './json-patch.ts'

/** Throws DoesNotApply for what is no YAML, or cannot be kept as it is. */
export function parseYaml(text: string): Json {
  try {
    const { value, details } = parseYamlText(text)
    if (details !== undefined && details.numbers.size > 0) {
      throw new DoesNotApply('the text holds whole numbers that are too large to be kept exactly; put them in quotes')
    }
    return value
  } catch (error) {
    if (error instanceof YamlTextError) throw new DoesNotApply(`the text is not YAML: ${error.message}`)
    throw error
  }
}

/** What would be read as something else is in double quotes; what would break the syntax, in single ones. */
export function printYaml(value: unknown): string {
  const document = new Document(value, { sortMapEntries: true, aliasDuplicateObjects: false, version: '1.1' })
  visit(document, (_, node) => {
    if (isScalar(node) && typeof node.value === 'string' && typeof resolvePlain(node.value) !== 'string') node.type = Scalar.QUOTE_DOUBLE
  })
  return document.toString({ indentSeq: false, singleQuote: true, blockQuote: 'literal', lineWidth: 0 })
}
