/** For tests: reads protobuf documents back into JSON by the same tables, written apart from the encoder. */
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

export function decodeDocument(table: MessageTable, message: string, bytes: Uint8Array): unknown {
  return decode(table, message, new WireReader(Buffer.from(bytes)))
}

const isNamed = (field: FieldFact): boolean => field.repeated === true && /\.Named\w+$/.test(field.type)

function decode(table: MessageTable, message: string, reader: WireReader): unknown {
  const facts = table[message] ?? []
  const out: [string, unknown][] = []
  const lists = new Map<string, unknown[]>()
  while (!reader.done) {
    const { number } = reader.tag(message)
    const fact = facts.find((candidate) => candidate.number === number)
    if (fact === undefined) throw new Error(`${message} has no field ${number}`)
    const value = read(table, fact, reader)
    if (message.endsWith('.Any')) return parse(String(value), { version: '1.1' })
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

function read(table: MessageTable, fact: FieldFact, reader: WireReader): unknown {
  if (Object.hasOwn(table, fact.type)) return decode(table, fact.type, reader.part())
  if (fact.type === 'string') return reader.text()
  if (fact.type === 'bool') return reader.varint32() !== 0
  if (fact.type === 'double') return reader.double()
  return Number(reader.varint64())
}
