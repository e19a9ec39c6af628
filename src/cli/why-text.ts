/** An explanation for users: the chain from top to bottom, a mark per link, and at the end what to do. */
import type pc from 'picocolors'
import type { ClusterLink, Explanation, State } from '../fleet/explain/index.ts'

type Colours = ReturnType<typeof pc.createColors>

const MARKS: Record<State, string> = { ok: '✓', waits: '…', fails: '✗' }

export function whyText(explanation: Explanation, colour: Colours): string {
  const { template, links, clusters, others, says, fix, state } = printable(explanation)
  const mark = (of: State): string => paint(of, MARKS[of], colour)
  const title = `${template.kind} ${template.namespace === '' ? '' : `${template.namespace}/`}${template.name}`
  const width = Math.max(0, ...clusters.map(({ name }) => name.length))
  const lines = [
    colour.bold(title),
    ...links.flatMap((link) => [
      `  ${mark(link.state)} ${link.what.padEnd(9)} ${link.says}`,
      ...(link.more ?? []).map((line) => `      ${colour.dim(line)}`),
    ]),
    ...clusters.flatMap((cluster) => clusterLines(cluster, { width, mark, colour })),
    ...othersLines(clusters, others, colour),
    '',
    `${mark(state)} ${state === 'ok' ? says : paint(state, says, colour)}`,
    ...(fix === undefined ? [] : [`  ${colour.bold('To do:')} ${fix}`]),
  ]
  return `${lines.join('\n')}\n`
}

/** Texts come from objects that anybody may have written: nothing in them may move the cursor or change the colours. */
function printable<T>(value: T): T {
  if (typeof value === 'string') return value.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped) as T
  if (Array.isArray(value)) return value.map(printable) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [printable(key), printable(part)])) as T
}

const escaped = (char: string): string => (char === '\n' ? ' ' : `\\u{${char.codePointAt(0)?.toString(16)}}`)

const paint = (state: State, text: string, colour: Colours): string =>
  state === 'ok' ? colour.green(text) : state === 'waits' ? colour.yellow(text) : colour.red(text)

interface Style {
  width: number
  mark(of: State): string
  colour: Colours
}

function clusterLines({ name, isChosen, why, replicas, work, object, state }: ClusterLink, { width, mark, colour }: Style): string[] {
  const label = name.padEnd(width)
  if (!isChosen && work === undefined) return [`    ${colour.dim(`- ${label}  ${why}`)}`]
  const count = replicas === undefined ? '' : `${replicas} replica${replicas === 1 ? '' : 's'}: `
  const place = work === undefined ? '' : `Work ${work.namespace}/${work.name}: ${work.says}`
  const health = object === undefined ? '' : ` → ${object.health}${object.status === undefined ? '' : `, ${object.status}`}`
  return [`    ${mark(state)} ${label}  ${count}${why}`, ...(place === '' ? [] : [`      ${' '.repeat(width)}  ${place}${health}`])]
}

/** Those without a sentence of their own. */
function othersLines(clusters: readonly ClusterLink[], others: Readonly<Record<string, number>>, colour: Colours): string[] {
  const shown = clusters.filter(({ isChosen }) => !isChosen).length
  const total = Object.values(others).reduce((sum, count) => sum + count, 0)
  if (total <= shown) return []
  return Object.entries(others).map(([why, count]) => `    ${colour.dim(`- ${count} cluster${count === 1 ? '' : 's'}: ${why}`)}`)
}
