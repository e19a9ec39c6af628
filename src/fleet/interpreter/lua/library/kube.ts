/** `require("kube")`: sums of quantities, and what pods need and depend on, by the rules of the native layer. */

import { plainSum } from '../../../../kube/amounts.ts'
import { addQuantities, formatQuantity, type Quantity, tryParseQuantity } from '../../../../kube/quantity.ts'
import { podDependencies } from '../../native/pod-dependencies.ts'
import { podRequirements } from '../../native/pod-requirements.ts'
import { fromJson, toJson } from '../json.ts'
import { type LuaValue, textOf } from '../values.ts'
import { type Arguments, library } from './arguments.ts'

const ZERO: Quantity = Object.freeze({ unscaled: 0n, scale: 0, format: 'DecimalSI' })

function quantity(args: Arguments, position: number): Quantity {
  const value = args.any(position)
  if (value === undefined) return ZERO
  if (typeof value !== 'string')
    return args.wrong(position, `string expected, got ${typeof value === 'number' ? 'number' : 'another value'}`)
  // Reading very many digits is quadratic.
  args.run.work((value.length >> 4) + Math.floor(value.length ** 2 / 4096))
  const parsed = tryParseQuantity(value)
  return parsed.error === undefined ? parsed.value : args.run.fail(args.site, `cannot parse '${value}': ${parsed.error}`)
}

function resourceAdd(args: Arguments): string {
  const given = args.from(1)
  for (const value of given) if (typeof value === 'string') args.run.read(value.length)
  const plain = plainSum(given)
  if (plain !== undefined) return plain
  let sum = ZERO
  for (let i = 1; i <= args.count; i++) sum = addQuantities(sum, quantity(args, i))
  return formatQuantity(sum)
}

function resourceQuantity(args: Arguments): number {
  if (args.count !== 1) args.run.fail(args.site, 'getResourceQuantity only accepts one argument')
  const { unscaled, scale } = quantity(args, 1)
  // Multiplied, not divided: 0.3 becomes 0.30000000000000004, as in Karmada, where the scripts were tested.
  const value = scale === 0 ? Number(unscaled) : Number(unscaled) * Number(`1e${scale}`)
  if (value < 0) args.run.fail(args.site, 'the quantity is negative')
  if (!Number.isFinite(value)) args.run.fail(args.site, 'the quantity is infinite')
  return value
}

/** Passes the template as JSON; returns the rule's answer as Lua. */
function overTemplate(args: Arguments, answer: (template: unknown) => unknown): LuaValue {
  const table = args.table(1)
  const source = table.untouched()
  // An unchanged template of an object need not be copied, nor lose its empty fields.
  const template = toJson(args.run, table, source === undefined ? { root: 'struct' } : { root: 'struct', references: [source] })
  args.run.work(valuesIn(template))
  try {
    return fromJson(answer(template))
  } catch (error) {
    return args.run.fail(args.site, (error as Error).message)
  }
}

/** How many values there are in it, for what walks over all of them. */
function valuesIn(json: unknown): number {
  if (typeof json !== 'object' || json === null) return 1
  let count = 1
  for (const item of Array.isArray(json) ? json : Object.values(json)) count += valuesIn(item)
  return count
}

function namespaceAt(args: Arguments, position: number): string {
  const value = args.any(position)
  return value === undefined ? 'default' : (textOf(value) ?? args.text(position))
}

export const kubeLibrary = library({
  accuratePodRequirements(args) {
    if (args.count !== 1) args.run.fail(args.site, 'getPodRequirements only accepts one argument')
    return overTemplate(args, (template) => podRequirements(template, { priorityClassName: args.run.usesPriorityClass }))
  },
  getPodDependencies(args) {
    if (args.count !== 2) args.run.fail(args.site, 'getPodDependencies only accepts two argument')
    return overTemplate(args, (template) => podDependencies(template, namespaceAt(args, 2)))
  },
  getResourceQuantity: resourceQuantity,
  resourceAdd,
})
