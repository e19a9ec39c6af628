/** Operations that run after each other in a circle: none of them would ever start. Pure. */
import type { KubeObject } from '../../kube/meta.ts'
import { nameOfOperation, type OperationName, operationText, predecessorOf } from './operation.ts'

/**
 * The operations of the circle that this one is part of, itself first; undefined: it is in none. A circle further up the chain is
 * reported by its own members.
 */
export function cycleOf(operation: KubeObject, get: (name: OperationName) => KubeObject | undefined): readonly OperationName[] | undefined {
  const start = nameOfOperation(operation)
  const path = [start]
  const seen = new Set([operationText(start)])
  for (let before = predecessorOf(operation); before !== undefined; ) {
    const text = operationText(before)
    if (text === operationText(start)) return path
    if (seen.has(text)) return undefined
    seen.add(text)
    path.push(before)
    const found = get(before)
    before = found === undefined ? undefined : predecessorOf(found)
  }
  return undefined
}

const SHOWN = 6

/** What a message says of one: `DataLoad a/b → DataProcess a/c → DataLoad a/b`, each running after the next. */
function cycleText(path: readonly OperationName[]): string {
  const texts = path.map(operationText)
  const [first = ''] = texts
  if (texts.length <= SHOWN) return [...texts, first].join(' → ')
  const [head, tail] = [texts.slice(0, SHOWN - 2), texts.slice(-1)]
  return [...head, `… ${texts.length - SHOWN + 1} more …`, ...tail, first].join(' → ')
}

export const cycleProblem = (path: readonly OperationName[]): string =>
  path.length === 1
    ? `${cycleText(path)}: it would wait for itself: remove runAfter, or name another operation`
    : `${cycleText(path)}: each would wait for the next, for ever: remove runAfter from one of them`
