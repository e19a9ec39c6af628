/** For tests: reads protobuf documents back into JSON with the same tables, implemented independently of the encoder. */
import { parse } from 'yaml'
import { WireReader } from '../../kinds/kubernetes/wire.ts'

interface FieldFact {
  number: number
  name: string
  type: string
  repeated?: boolean
  json?: string
  oneof?: string
}

export type MessageTable = Record<string, FieldFact[]>

interface Tables {
  table: MessageTable
  /** YAML texts parsed before: a document repeats the same few texts thousands of times. */
  known: Map<string, unknown>
}

export function decodeDocument(table: MessageTable, message: string, bytes: Uint8Array): unknown {
  return decode({ table, known: new Map() }, message, new WireReader(Buffer.from(bytes)))
}

const isNamed = (field: FieldFact): boolean => field.repeated === true && /\.Named\w+$/.test(field.type)

function decode(tables: Tables, message: string, reader: WireReader): unknown {
  const facts = tables.table[message] ?? []
  const out: [string, unknown][] = []
  const lists = new Map<string, unknown[]>()
  while (!reader.done) {
    const { number } = reader.tag(message)
    const fact = facts.find((candidate) => candidate.number === number)
    if (fact === undefined) throw new Error(`${message} has no field ${number}`)
    const value = read(tables, fact, reader)
    if (message.endsWith('.Any')) return readYaml(tables.known, String(value))
    if (fact.oneof !== undefined) return value
    if (isNamed(fact)) {
      const { name, value: named } = value as { name: string; value: unknown }
      out.push([name, named])
    } else if (fact.repeated) {
      const list = lists.get(fact.name) ?? []
      if (!lists.has(fact.name)) {
        lists.set(fact.name, list)
        out.push([fact.json ?? fact.name, list])
      }
      list.push(value)
    } else out.push([fact.json ?? fact.name, value])
  }
  const [first] = lists.values()
  if (/\.(ItemsItem|TypeItem)$/.test(message)) return first?.[0]
  if (message.endsWith('.StringArray')) return first ?? []
  return Object.fromEntries(out)
}

function readYaml(known: Map<string, unknown>, text: string): unknown {
  if (!known.has(text)) known.set(text, parse(text, { version: '1.1' }))
  return known.get(text)
}

function read(tables: Tables, fact: FieldFact, reader: WireReader): unknown {
  if (Object.hasOwn(tables.table, fact.type)) return decode(tables, fact.type, reader.part())
  if (fact.type === 'string') return reader.text()
  if (fact.type === 'bool') return reader.varint32() !== 0
  if (fact.type === 'double') return reader.double()
  return Number(reader.varint64())
}
