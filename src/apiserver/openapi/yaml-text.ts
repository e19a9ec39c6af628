/** Small JSON values as YAML in block form, the way they travel inside protobuf documents: readable by any YAML parser. */
import { isJsonObject } from '../../base/json.ts'

/** Ends with a newline. */
export function toYamlText(value: unknown): string {
  return `${block(value, '')}\n`
}

function block(value: unknown, indent: string): string {
  if (Array.isArray(value) && value.length > 0) return value.map((item) => `- ${block(item, `${indent}  `)}`).join(`\n${indent}`)
  if (isJsonObject(value)) {
    const entries = Object.entries(value)
    if (entries.length > 0) return entries.map(([key, child]) => `${scalar(key)}:${below(child, indent)}`).join(`\n${indent}`)
  }
  return scalar(value)
}

function below(value: unknown, indent: string): string {
  const isNested = typeof value === 'object' && value !== null && Object.keys(value).length > 0
  if (!isNested) return ` ${scalar(value)}`
  const inner = Array.isArray(value) ? indent : `${indent}  `
  return `\n${inner}${block(value, inner)}`
}

/** Words that YAML 1.1 may read as something else (`yes`, or `e0` as a number), and anything unusual, are quoted as JSON, which YAML includes. */
const PLAIN = /^[A-Za-z][A-Za-z0-9_./-]*$/
const RESERVED = /^(y|n|yes|no|on|off|true|false|null|nan|inf|e[-+]?[0-9]+)$/i

function scalar(value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value) && !RESERVED.test(value)) return value
  return JSON.stringify(value) ?? 'null'
}
