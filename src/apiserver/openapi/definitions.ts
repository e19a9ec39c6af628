/**
 * The recorded definitions of the built-in kinds as JSON texts. OpenAPI v3 documents are put together from these texts
 * without parsing them; v2 needs them rewritten. The texts are slices of the facts, so the index costs next to nothing.
 */
import { isJsonObject, setOwn } from '../../base/json.ts'
import { once } from '../../kinds/kubernetes/once.ts'
import { openApiTexts } from '../../kinds/kubernetes/openapi-texts.ts'

export const V3_REF = '#/components/schemas/'
const V2_REF = '#/definitions/'

/** Definition name → JSON text. The facts have one definition per line: `"name":{…},`. */
const recorded = once((): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>()
  for (const { text } of openApiTexts) {
    let at = 0
    while (at < text.length) {
      const newline = text.indexOf('\n', at)
      const end = newline < 0 ? text.length : newline
      const colon = text.indexOf('":{', at)
      if (text[at] === '"' && colon > at && colon < end)
        texts.set(text.slice(at + 1, colon), text.slice(colon + 2, text[end - 1] === ',' ? end - 1 : end))
      at = end + 1
    }
  }
  return texts
})

const recordedDefinition = (name: string): string | undefined => recorded().get(name)

const REFERENCE = /"\$ref":"#\/components\/schemas\/([^"\\]+)"/g

/**
 * The definitions that `names` need, including themselves, with their v3 texts in name order. A name in
 * `own` is taken from there. What is not found anywhere is left out.
 */
export function closure(names: Iterable<string>, own: ReadonlyMap<string, string>): [name: string, text: string][] {
  const found = new Map<string, string>()
  const waiting = [...names]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue
    const text = own.get(name) ?? recordedDefinition(name)
    if (text === undefined) continue
    found.set(name, text)
    for (const match of text.matchAll(REFERENCE)) if (match[1] !== undefined) waiting.push(match[1])
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1))
}

interface Gvk {
  group: string
  version: string
}

/** Meta kinds are registered in every group: the document of a built-in group version lists only core's and its own. */
export function narrowKinds(text: string, group: string, version: string): string {
  const mark = '"x-kubernetes-group-version-kind":['
  const from = text.indexOf(mark)
  if (from < 0) return text
  const start = from + mark.length - 1
  const end = text.indexOf(']', start) + 1
  const kinds = JSON.parse(text.slice(start, end)) as Gvk[]
  if (kinds.length < 2) return text
  const kept = kinds.filter((k) => (k.group === '' && k.version === 'v1') || (k.group === group && k.version === version))
  return text.slice(0, start) + JSON.stringify(kept) + text.slice(end)
}

/** Schema keywords under which schemas are found, by how. */
const MAPS = new Set(['properties', 'patternProperties', 'definitions'])
const SINGLE = new Set(['items', 'additionalProperties', 'not'])

/**
 * A v3 schema in v2 form: references bare with their siblings beside them, no defaults, and a value of one of
 * several types (a quantity, an int-or-string) as a string.
 */
export function toV2(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema
  const out: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'default') continue
    if (key === '$ref') out.$ref = v2Reference(value)
    else if (key === 'allOf' && Array.isArray(value) && value.length === 1 && isJsonObject(value[0])) Object.assign(out, toV2(value[0]))
    else if (key === 'oneOf') out.type = 'string'
    else if (MAPS.has(key) && isJsonObject(value))
      out[key] = Object.fromEntries(Object.entries(value).map(([name, child]) => [name, toV2(child)]))
    else if (SINGLE.has(key)) out[key] = toV2(value)
    else setOwn(out, key, value)
  }
  return out
}

function v2Reference(ref: unknown): unknown {
  return typeof ref === 'string' && ref.startsWith(V3_REF) ? V2_REF + ref.slice(V3_REF.length) : ref
}
