/** The first places where two values differ, each as one readable line. Only deeply equal values count as equal. */
import { isDeepStrictEqual } from 'node:util'

const MOST = 8

export function differences(want: unknown, got: unknown): string[] {
  const out: string[] = []
  collect(want, got, '', out)
  return out
}

function collect(want: unknown, got: unknown, where: string, out: string[]): void {
  if (out.length >= MOST || isDeepStrictEqual(want, got)) return
  if (isContainer(want) && isContainer(got) && Array.isArray(want) === Array.isArray(got)) {
    for (const key of new Set([...Object.keys(want), ...Object.keys(got)])) collect(want[key], got[key], `${where}/${key}`, out)
    return
  }
  out.push(`${where || '/'}: expected ${shown(want)}, got ${shown(got)}`)
}

const isContainer = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object'

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 300)
