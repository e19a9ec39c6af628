/** JSON pointers, as the transcripts use them: to read a value, and to take out what is not compared. */
import type { Json } from './transcript.ts'

const parts = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

export function valueAt(value: Json | undefined, pointer: string): Json | undefined {
  return parts(pointer).reduce<Json | undefined>((at, part) => child(at, part), value)
}

function child(value: Json | undefined, key: string): Json | undefined {
  if (value === null || typeof value !== 'object') return undefined
  return Array.isArray(value) ? value[Number(key)] : Object.hasOwn(value, key) ? value[key] : undefined
}

/** Removes what the pointer names, in place: `*` is every key or element, `**` any depth; an element becomes `<ignored>`. */
export function removeAt(value: Json, pointer: string): void {
  remove(value, parts(pointer))
}

function remove(value: Json, [part, ...rest]: string[]): void {
  if (value === null || typeof value !== 'object' || part === undefined) return
  if (part === '**') {
    remove(value, rest)
    for (const inner of Object.values(value)) remove(inner, [part, ...rest])
    return
  }
  const keys = part === '*' ? Object.keys(value) : [part]
  for (const key of keys) {
    if (rest.length > 0) remove(child(value, key) ?? null, rest)
    else if (!Array.isArray(value)) delete value[key]
    else if (Object.hasOwn(value, key)) value[Number(key)] = '<ignored>'
  }
}
