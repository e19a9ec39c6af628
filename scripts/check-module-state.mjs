// Checks that module-level state (a module-level `let`, or a module-level map, set, list or object that is changed after it is
// created) is listed with its reason in docs/design/module-state.md, and that the list names nothing that is gone. Prints each
// violation as file:line; exit code 1. Works on text: code formatted by biome declares in column 0.
import { readFileSync } from 'node:fs'
import { sources, withoutComments } from './sources.mjs'

const LIST = 'docs/design/module-state.md'
const DECLARATION = /^(?:export )?(let|var|const) (\w+)(?:: [^=]*?)? =(?!=)\s*(.*)$/gm
const UNSET = /^(?:export )?(let|var) (\w+)(?:: [^=\n]*)?$/gm
/** What can be changed in place. A `const` that holds anything else cannot change. */
const CONTAINER = /^(?:new \w*(?:Map|Set|Array|Cache|Lru|LRU)\b|\[|\{)/
const CHANGES = 'set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin'

const listed = new Map(
  [...readFileSync(LIST, 'utf8').matchAll(/^\| `(src\/[^`]+)` \| `(\w+)` \| *(\S[^|\n]*)\|$/gm)].map(([, file, name]) => [
    `${file} ${name}`,
    false,
  ]),
)
const problems = []
for (const file of sources('src')) {
  const text = withoutComments(readFileSync(file, 'utf8'))
  for (const { name, line } of stateOf(text)) {
    const key = `${file} ${name}`
    if (listed.has(key)) listed.set(key, true)
    else problems.push(`${file}:${line}: ${name} is module-level state: give it an owner, or list it with its reason in ${LIST}`)
  }
}
for (const [key, isThere] of listed) if (!isThere) problems.push(`${LIST}: ${key} is listed, and is no module-level state any more`)
for (const problem of problems) console.log(problem)
if (problems.length > 0) process.exitCode = 1

function stateOf(text) {
  const found = []
  for (const { 1: kind, 2: name, 3: value, index } of [...text.matchAll(DECLARATION), ...text.matchAll(UNSET)]) {
    const line = text.slice(0, index).split('\n').length
    if (kind !== 'const' || (CONTAINER.test(value ?? '') && isChanged(text, name))) found.push({ name, line })
  }
  return found
}

function isChanged(text, name) {
  const place = `(?<![\\w.$])${name}`
  const below = '(?:\\??\\.\\w+|\\[[^\\]\\n]*\\])'
  return [
    `${place}${below}*\\??\\.(?:${CHANGES})\\(`,
    `${place}${below}+ (?:[-+*/|&?]{0,2})=(?![=>])`,
    `${place}${below}+(?:\\+\\+|--)`,
    `delete ${name}${below}`,
    `Object\\.assign\\(${name}\\b`,
  ].some((pattern) => new RegExp(pattern).test(text))
}
