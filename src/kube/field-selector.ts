/**
 * Field selectors: `metadata.name=a,status.phase!=Running`, with `\` escaping `\`, `,` and `=` in values.
 * The caller lists the fields a kind knows; the message about unknown ones differs between kinds.
 */
import { compareStrings, goQuote } from './go-print.ts'
import { type Parsed, parsed, unparsed } from './parsed.ts'

export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

export type FieldSelector = readonly FieldRequirement[]

export function parseFieldSelector(text: string): Parsed<FieldSelector> {
  const terms = splitTerms(text).sort(compareStrings)
  const list: FieldRequirement[] = []
  for (const term of terms) {
    if (term === '') continue
    const match = /^([^=!]*(?:!(?!=)[^=!]*)*)(!=|==|=)(.*)$/s.exec(term)
    if (match === null) return unparsed(`invalid selector: '${text}'; can't understand '${term}'`)
    const value = unescapeValue(match[3] ?? '')
    if (value.error !== undefined) return value
    // `=` alone requires nothing.
    if (match[1] === '' && value.value === '') continue
    list.push({ field: match[1] ?? '', operator: match[2] === '!=' ? '!=' : '=', value: value.value })
  }
  return parsed(list)
}

function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === ',') {
      terms.push(text.slice(start, i))
      start = i + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

function unescapeValue(text: string): Parsed<string> {
  let out = ''
  const chars = [...text]
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] ?? ''
    if (char === '\\') {
      const next = chars[++i] ?? ''
      if (next !== '\\' && next !== ',' && next !== '=') return unparsed(`invalid field selector: invalid escape sequence: \\${next}`)
      out += next
    } else if (char === ',' || char === '=') {
      // The original prints the character as a number.
      return unparsed(`invalid field selector: unescaped character in value: ${char.charCodeAt(0)}`)
    } else out += char
  }
  return parsed(out)
}

/** The first field that is not among the known ones, or undefined when all are. */
export function unknownField(selector: FieldSelector, known: readonly string[]): string | undefined {
  return selector.find((requirement) => !known.includes(requirement.field))?.field
}

/** The server's message about an unknown field of a kind that declares no selectable fields. */
export const unknownFieldMessage = (field: string): string =>
  `${goQuote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`

/** Its message where the kind (named by `of`) declares fields: nearly always the same, but not for all groups. */
export function unsupportedFieldMessage(field: string, of?: { group: string; version: string; kind: string }): string {
  if (of?.group === 'batch') return `field label ${goQuote(field)} not supported for ${of.kind}`
  if (of?.group === 'resource.k8s.io') return `field label not supported for ${of.group}/${of.version}, Kind=${of.kind}: ${field}`
  return `field label not supported: ${field}`
}

/** `fields` gives the value of every selectable field; a missing one counts as empty. */
export function matchesFields(selector: FieldSelector, fields: Readonly<Record<string, string>>): boolean {
  return selector.every(({ field, operator, value }) => {
    const actual = Object.hasOwn(fields, field) ? fields[field] : ''
    return operator === '=' ? actual === value : actual !== value
  })
}

/** The value that a field must have, when the selector leaves no choice. */
export const requiredField = (selector: FieldSelector, field: string): string | undefined =>
  selector.find((r) => r.field === field && r.operator === '=')?.value

export function formatFieldSelector(selector: FieldSelector): string {
  return selector.map(({ field, operator, value }) => `${field}${operator}${value.replace(/[\\,=]/g, '\\$&')}`).join(',')
}
