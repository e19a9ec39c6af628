/** The table library. Functions that move elements count them as work. */
import { less } from '../operators.ts'
import { LuaTable } from '../table.ts'
import { firstOf, isTruthy, type LuaFunction, type LuaValue, NOTHING, textOf, typeName } from '../values.ts'
import { type Arguments, library, libraryFunction } from './arguments.ts'
import { unpack } from './base.ts'

function insert(args: Arguments): readonly LuaValue[] {
  const table = args.table(1)
  if (args.count < 2) args.run.fail(args.site, "wrong number of arguments to 'insert'")
  if (args.count === 2) {
    table.set(args.run, table.length() + 1, args.any(2))
    return NOTHING
  }
  const position = args.integer(2)
  const length = table.length()
  if (position < 1 || position > length || args.any(3) === undefined) {
    table.set(args.run, position, args.any(3))
    return NOTHING
  }
  args.run.work((length - position) >> 3)
  args.run.makeFields(1)
  table.list(args.run).splice(position - 1, 0, args.any(3))
  return NOTHING
}

function remove(args: Arguments): LuaValue {
  const table = args.table(1)
  const length = table.length()
  const position = args.integer(2, length)
  if (position < 1 || position > length) return undefined
  args.run.work((length - position) >> 3)
  const list = table.list(args.run)
  const [removed] = list.splice(position - 1, 1)
  while (list.length > 0 && list[list.length - 1] === undefined) list.pop()
  return removed
}

function join(args: Arguments): string {
  const table = args.table(1)
  const separator = args.text(2, '')
  const parts: string[] = []
  const last = args.integer(4, table.length())
  for (let i = args.integer(3, 1); i <= last; i++) {
    args.run.work(1)
    const value = table.get(i)
    const text = textOf(value)
    if (text === undefined) return args.run.fail(args.site, `invalid value (${typeName(value)}) at index ${i} in table for 'concat'`)
    args.run.make(text.length + separator.length)
    parts.push(text)
  }
  return parts.join(separator)
}

/** Whether the first goes before the second. */
type Precedes = (a: LuaValue, b: LuaValue) => boolean

function sort(args: Arguments): readonly LuaValue[] {
  const list = args.table(1).list(args.run)
  const order: LuaFunction | undefined = args.any(2) === undefined ? undefined : args.function(2)
  const precedes: Precedes = (a, b) =>
    order === undefined ? less(args.run, a, b, args.site) : isTruthy(firstOf(order(args.run, args.site, a, b)))
  // Sorts a copy: a comparison that changes the table, or fails half-way, leaves it intact.
  args.run.makeFields(list.length)
  const sorted = [...list].sort((a, b) => {
    args.run.work(1)
    return precedes(a, b) ? -1 : precedes(b, a) ? 1 : 0
  })
  for (let i = 0; i < sorted.length; i++) list[i] = sorted[i]
  return NOTHING
}

function largestKey(args: Arguments): number {
  const table = args.table(1)
  let largest = table.length()
  const fields = table.fields()
  args.run.work((fields?.places ?? 0) >> 2)
  for (let place = 0; place < (fields?.places ?? 0); place++) {
    const key = fields?.keyAt(place)
    if (typeof key === 'number' && key > largest && fields?.valueAt(place) !== undefined) largest = key
  }
  return largest
}

const insertAnywhere = libraryFunction('insert', insert)

/** Nearly every call appends to a table: the fast path. */
const insertFast: LuaFunction = (run, site, ...values) => {
  const [table] = values
  if (values.length !== 2 || !(table instanceof LuaTable)) return insertAnywhere(run, site, ...values)
  run.work(1)
  table.append(run, values[1])
  return NOTHING
}

export const tableLibrary = library(
  {
    concat: join,
    getn: (args) => args.table(1).length(),
    maxn: largestKey,
    remove,
    sort,
    unpack: (args) => unpack(args, args.integer(2, 1), args.integer(3, args.table(1).length())),
  },
  { insert: insertFast },
)
