/** Small changes to good input: a value of another type, a key too many or too few, a byte flipped, the end cut off. */
import { deepClone, isJsonObject, type Json, setOwn } from '../../src/base/json.ts'
import type { Choice } from './choice.ts'
import { hostileString, hostileValue, PROTOTYPE_KEYS } from './hostile.ts'

/** A copy with one to three places changed. */
export function mutateJson(value: Json, choice: Choice): Json {
  const root: { it: Json } = { it: deepClone(value) }
  const count = choice.weighted([
    [6, 1],
    [2, 2],
    [1, 3],
  ] as const)
  for (let i = 0; i < count; i++) mutateOnce(root, choice)
  return root.it
}

interface Place {
  holder: Json[] | Record<string, Json | undefined>
  key: string | number
}

const MAX_PLACES = 2000

function placesOf(root: Json): Place[] {
  const places: Place[] = []
  const pending: Json[] = [root]
  for (let next = pending.pop(); next !== undefined && places.length < MAX_PLACES; next = pending.pop()) {
    const keys = Array.isArray(next) ? next.keys() : isJsonObject(next) ? Object.keys(next) : []
    for (const key of keys) {
      places.push({ holder: next as Place['holder'], key })
      const child = (next as Record<string | number, Json | undefined>)[key]
      if (typeof child === 'object' && child !== null) pending.push(child)
    }
  }
  return places
}

function mutateOnce(root: { it: Json }, choice: Choice): void {
  const places = placesOf(root.it)
  if (places.length === 0 || choice.chance(0.02)) {
    root.it = hostileValue(choice)
    return
  }
  const { holder, key } = choice.of(places)
  const get = (): Json => (holder as Record<string | number, Json>)[key] as Json
  const set = (value: Json): void => setOwn(holder, String(key), value)
  choice.weighted<() => void>([
    [6, () => set(hostileValue(choice))],
    [3, () => (Array.isArray(holder) ? void holder.splice(Number(key), 1) : void delete holder[key])],
    [
      2,
      () =>
        Array.isArray(holder)
          ? void holder.push(deepClone(get()))
          : setOwn(holder, choice.chance(0.5) ? choice.of(PROTOTYPE_KEYS) : hostileString(choice).slice(0, 300), deepClone(get())),
    ],
    [2, () => set(near(get(), choice))],
    [1, () => set(deepClone((choice.of(places).holder as Json) ?? null))],
    [1, () => set([get(), get()])],
    [1, () => set({ [String(key)]: get() })],
  ])()
}

/** A value of the same type, a little off. */
function near(value: Json, choice: Choice): Json {
  if (typeof value === 'number') return choice.of([value + 1, value - 1, -value, value * 1000, value + 0.5, 2 ** 31 + value])
  if (typeof value === 'string')
    return choice.of([
      value.toUpperCase(),
      `${value}-`,
      ` ${value}`,
      value.slice(1),
      `${value}${value}`,
      `${value}\u0000`,
      value.repeat(100).slice(0, 5000),
      `${value}/x`,
      `${value}:x`,
    ])
  if (typeof value === 'boolean') return !value
  if (Array.isArray(value)) return [...value, ...value]
  return value
}

export function mutateBytes(bytes: Buffer, choice: Choice): Buffer {
  const copy = Buffer.from(bytes)
  if (copy.length === 0) return Buffer.from(choice.bytes(3))
  return choice.of([
    () => copy.subarray(0, choice.below(copy.length)),
    () => copy.subarray(choice.below(copy.length)),
    () => {
      for (let i = choice.between(1, 4); i > 0; i--) copy[choice.below(copy.length)] = choice.below(256)
      return copy
    },
    () => {
      const at = choice.below(copy.length)
      copy[at] = (copy[at] ?? 0) ^ (1 << choice.below(8))
      return copy
    },
    () => {
      const at = choice.below(copy.length)
      return Buffer.concat([copy.subarray(0, at), Buffer.from(choice.bytes(choice.between(1, 20))), copy.subarray(at)])
    },
    () => {
      const at = choice.below(copy.length)
      return Buffer.concat([copy.subarray(0, at), copy.subarray(at, at + 50), copy.subarray(at)])
    },
    () => Buffer.concat([copy, copy]),
  ])()
}
