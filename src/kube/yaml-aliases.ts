/**
 * What the aliases of a YAML document stand for, found in one walk over it, and what they may add to it. An alias costs what
 * it stands for, each time: as many values as the document itself has and a fixed number more, and as many characters as a
 * request may have.
 */
import { type Alias, isAlias, isCollection, isPair, isScalar, type Node } from 'yaml'
import { YamlTextError } from './yaml-errors.ts'

const MORE_VALUES = 100_000
const CHARACTERS = 3 * 1024 * 1024

export interface Aliases {
  /** The last node with this anchor before the alias; undefined: there is none. */
  targetOf(alias: Alias): Node | undefined
  /** What is read in here was written elsewhere, and is charged. */
  inside<T>(read: () => T): T
  /** To be called for each value, and each key of a map, that is read. Throws YamlTextError when it is too much. */
  charge(node: unknown): void
}

/** Most documents have no aliases: then nothing is walked, and nothing charged. */
export function aliasesOf(contents: unknown): Aliases {
  let found: ReturnType<typeof targetsIn> | undefined
  let values = MORE_VALUES
  let characters = CHARACTERS
  let depth = 0
  return {
    targetOf(alias) {
      if (found === undefined) {
        found = targetsIn(contents)
        values += found.size
      }
      return found.targets.get(alias)
    },
    inside(read) {
      depth++
      const result = read()
      depth--
      return result
    },
    charge(node) {
      if (depth === 0) return
      values--
      if (isScalar(node) && typeof node.value === 'string') characters -= node.value.length
      if (values < 0 || characters < 0) throw new YamlTextError('yaml: document contains excessive aliasing')
    },
  }
}

/** In the order of the text; a collection is an anchor before its contents, so it can be seen to contain itself. */
function targetsIn(contents: unknown): { targets: ReadonlyMap<Alias, Node | undefined>; size: number } {
  const latest = new Map<string, Node>()
  const targets = new Map<Alias, Node | undefined>()
  let size = 0
  const walk = (node: unknown): void => {
    size++
    if (isAlias(node)) targets.set(node, latest.get(node.source))
    else if (isPair(node)) {
      walk(node.key)
      walk(node.value)
    } else if (isScalar(node) || isCollection(node)) {
      if (node.anchor !== undefined) latest.set(node.anchor, node)
      if (isCollection(node)) for (const item of node.items) walk(item)
    }
  }
  walk(contents)
  return { targets, size }
}
