/**
 * What differs from run to run in one sequence: its namespace, uids, resource versions, generated names, saved values.
 * Each real value gets a label by first appearance, so that equal labels mean equal values within the sequence.
 */
import type { Json, StepRequest } from './transcript.ts'

export class Names {
  readonly namespace: string
  readonly saved = new Map<string, string>()
  #uids = new Map<string, string>()
  #versions = new Map<string, string>()
  #generated = new Map<string, string>()

  constructor(namespace: string) {
    this.namespace = namespace
  }

  uid(value: string): string {
    return label(this.#uids, 'uid', value)
  }

  version(value: string): string {
    return label(this.#versions, 'rv', value)
  }

  /** Names the server made from generateName, each with its label. */
  get generated(): ReadonlyMap<string, string> {
    return this.#generated
  }

  /** A generated name is the first 58 characters of generateName and five random ones: found in the answer's text. */
  learnGenerated(request: Partial<StepRequest>, answer: string): void {
    const base = generateName(request.body)?.slice(0, 58)
    if (base === undefined || base === '') return
    const pattern = new RegExp(`${RegExpEscape(base)}[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])`, 'g')
    for (const [name] of answer.matchAll(pattern))
      if (!this.#generated.has(name)) this.#generated.set(name, `${base}<rand${this.#generated.size + 1}>`)
  }

  /** Labels as they are now, to come back to when a request is repeated. */
  checkpoint(): () => void {
    const [uids, versions, generated] = [new Map(this.#uids), new Map(this.#versions), new Map(this.#generated)]
    return () => {
      this.#uids = uids
      this.#versions = versions
      this.#generated = generated
    }
  }

  /** A recorded request with `<ns>`, `${saved}` and `${pad:N}` filled in. */
  fill<T>(value: T): T {
    return this.#fill(value) as T
  }

  #fill(value: unknown): unknown {
    if (typeof value === 'string') return this.#fillText(value)
    if (Array.isArray(value)) return value.map((one) => this.#fill(one))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [this.#fillText(key), this.#fill(inner)]))
  }

  #fillText(text: string): string {
    return text
      .replaceAll('<ns>', this.namespace)
      .replace(/\$\{pad:(\d+)\}/g, (_, count) => 'x'.repeat(Number(count)))
      .replace(/\$\{(\w+)\}/g, (_, name) => {
        const value = this.saved.get(name)
        if (value === undefined) throw new Error(`nothing saved as ${name}`)
        return value
      })
  }
}

function label(table: Map<string, string>, kind: string, value: string): string {
  const known = table.get(value) ?? `<${kind}${table.size + 1}>`
  table.set(value, known)
  return known
}

function generateName(body: Json | undefined): string | undefined {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return undefined
  const metadata = body.metadata
  if (metadata === null || typeof metadata !== 'object' || Array.isArray(metadata)) return undefined
  return typeof metadata.generateName === 'string' ? metadata.generateName : undefined
}

const RegExpEscape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
