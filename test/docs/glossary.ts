/** The content of docs/glossary.md, what the sources export, and which words must not come back. */

export interface Entry {
  word: string
  meaning: string
  /** Code ticks of the last column: exported names, or paths. */
  places: readonly string[]
}

export function entriesOf(markdown: string): Entry[] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) => {
      const [word = '', meaning = '', where = ''] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim())
      return { word, meaning, places: [...where.matchAll(/`([^`]+)`/g)].map(([, place = '']) => place) }
    })
}

const EXPORTED = /^export (?:declare )?(?:abstract )?(?:async )?(?:interface|type|class|function\*?|const|enum) (\w+)/gm
const REEXPORTED = /^export (?:type )?\{([^}]*)\}/gm

export function exportsOf(source: string): string[] {
  const lists = [...source.matchAll(REEXPORTED)].flatMap(([, list = '']) => list.split(','))
  const reexported = lists
    .map(
      (one) =>
        one
          .trim()
          .replace(/^type /, '')
          .split(' as ')
          .at(-1) ?? '',
    )
    .filter((name) => name !== '')
  return [...[...source.matchAll(EXPORTED)].map(([, name = '']) => name), ...reexported]
}

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/y
const QUOTED = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y
const REGEXP = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y
const TEMPLATE_TEXT = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y
const NAME = /[A-Za-z_$][\w$]*/y
/** What a slash comes after when it divides, rather than begins a regular expression. */
const DIVIDED = /[\w$)\]]\s*$/

/** Identifiers and keywords; comments, strings and regular expressions are skipped, the content of `${…}` is not. */
export function identifiersIn(source: string): Set<string> {
  const names = new Set<string>()
  /** Open braces: true for those of a template, after which its text continues. */
  const braces: boolean[] = []
  let at = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const [text] = pattern.exec(source) ?? []
    at += text?.length ?? 0
    return text
  }
  const skipTemplateText = (): void => {
    if (take(TEMPLATE_TEXT)?.endsWith('${') === true) braces.push(true)
  }
  while (at < source.length) {
    const name = take(NAME)
    if (name !== undefined) names.add(name)
    else if (take(COMMENT) === undefined && take(QUOTED) === undefined) {
      const isRegExp = source[at] === '/' && !DIVIDED.test(source.slice(Math.max(0, at - 20), at))
      if (isRegExp && take(REGEXP) !== undefined) continue
      const char = source[at++]
      if (char === '`') skipTemplateText()
      else if (char === '{') braces.push(false)
      else if (char === '}' && braces.pop() === true) skipTemplateText()
    }
  }
  return names
}

/** The camelCase parts of an identifier, in lower case. */
export const wordsOf = (identifier: string): string[] =>
  (identifier.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((part) => part.toLowerCase())

/** Words this project used instead of the usual terms, and what replaced them. */
export const RETIRED: Readonly<Record<string, string>> = {
  book: 'index',
  books: 'indexes',
  breath: 'yieldIfDue',
  breathe: 'yieldIfDue',
  carrier: 'applier',
  currency: 'StillCurrent',
  deed: 'action, effect or progress',
  deeds: 'actions, effects or progress',
  doubts: 'unknownOutcomes',
  everything: 'ClusterCache',
  ground: 'Deps',
  grounds: 'Deps',
  heed: 'isRelevantUpdate',
  heeds: 'isRelevantUpdate',
  news: 'events',
  room: 'capacity or module',
  rooms: 'capacity or modules',
  sight: 'view or snapshot',
  situation: 'input',
  surroundings: 'Deps',
  tell: 'record, report or notify',
  telling: 'events',
  tells: 'events',
  told: 'recorded or reported',
  wakes: 'triggers',
  way: 'transport or connection',
  ways: 'transports or connections',
  wish: 'desired',
  wishes: 'desired',
  woken: 'triggered',
}

export interface Finding {
  identifier: string
  instead: string
}

export function retiredIn(source: string, allowed: readonly string[] = []): Finding[] {
  return [...identifiersIn(source)].flatMap((identifier) => {
    if (allowed.includes(identifier)) return []
    if (/[lL]ookAgain/.test(identifier)) return [{ identifier, instead: 'resync' }]
    const word = wordsOf(identifier).find((one) => Object.hasOwn(RETIRED, one))
    return word === undefined ? [] : [{ identifier, instead: RETIRED[word] ?? '' }]
  })
}
