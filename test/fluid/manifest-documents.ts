/**
 * Finds manifests of Fluid's kinds in the text of a file: documents of YAML files, and what Markdown shows in its code blocks, there
 * also between the lines of a shell session. Pure.
 */
import { parseDocument } from 'yaml'
import { isJsonObject } from '../../src/base/json.ts'
import type { KubeObject } from '../../src/kube/meta.ts'

export interface Manifest {
  file: string
  /** Of the first line of the document, from 1. */
  line: number
  /** Absent: the text is no object, and `problem` says why. */
  object?: KubeObject
  problem?: string
}

interface Chunk {
  line: number
  text: string
}

const API_VERSION = /^(\s*)apiVersion:\s*(.*)$/
const OF_FLUID = /^["']?(data|workload)\.fluid\.io\//
/** The field that may come before `apiVersion`. */
const KIND = /^(\s*)kind:/
const FENCE = /^\s*(`{3,}|~{3,})/
/** What ends a document in a session: a prompt, the end of what `cat` is given, the end of a text of Go. */
const END = /^\s*([$>] |[A-Z]{3,}\s*$|`|kubectl )/
/** Dots for what a page does not show. */
const ELISION = /^\s*\.{3,}\s*$/

export function manifestsIn(file: string, text: string): Manifest[] {
  const lines = text.split(/\r?\n/)
  const blocks = file.endsWith('.md') ? codeBlocks(lines) : [{ line: 1, lines }]
  return blocks.flatMap((block) => documentsOf(block, file.endsWith('.md'))).map((chunk) => manifestOf(file, chunk))
}

interface Block {
  line: number
  lines: readonly string[]
}

function codeBlocks(lines: readonly string[]): Block[] {
  const blocks: Block[] = []
  let open: { fence: string; start: number } | undefined
  for (const [i, line] of lines.entries()) {
    const fence = FENCE.exec(line)?.[1]
    if (fence === undefined) continue
    if (open === undefined) open = { fence: fence.slice(0, 3), start: i + 1 }
    else if (fence.startsWith(open.fence)) {
      blocks.push({ line: open.start + 1, lines: lines.slice(open.start, i) })
      open = undefined
    }
  }
  return open === undefined ? blocks : [...blocks, { line: open.start + 1, lines: lines.slice(open.start) }]
}

/**
 * Each begins at an `apiVersion`, or at a `kind` right before it, and ends where something else begins. What is indented more is
 * part of it: other objects that it names have an `apiVersion`, too.
 */
function documentsOf({ line, lines }: Block, isSession: boolean): Chunk[] {
  const found: Chunk[] = []
  for (let i = 0; i < lines.length; i++) {
    const [, indent, apiVersion = ''] = API_VERSION.exec(lines[i] ?? '') ?? []
    if (indent === undefined) continue
    const start = KIND.exec(lines[i - 1] ?? '')?.[1] === indent ? i - 1 : i
    const length = lines.slice(i + 1).findIndex((next) => isEnd(next, indent, isSession))
    const end = length < 0 ? lines.length : i + 1 + length
    const own = lines.slice(start, end).filter((one) => !ELISION.test(one))
    const text = own.map((one) => (one.startsWith(indent) ? one.slice(indent.length) : one.trimStart())).join('\n')
    if (OF_FLUID.test(apiVersion)) found.push({ line: line + start, text })
    i = end - 1
  }
  return found
}

const isEnd = (line: string, indent: string, isSession: boolean): boolean =>
  line.trimStart().startsWith('---') || API_VERSION.exec(line)?.[1] === indent || (isSession && END.test(line))

function manifestOf(file: string, { line, text }: Chunk): Manifest {
  const document = parseDocument(text)
  const [error] = document.errors
  if (error !== undefined) return { file, line, problem: `no YAML: ${error.message.split('\n', 1)[0]}` }
  const object: unknown = document.toJS()
  if (!isJsonObject(object) || !isJsonObject(object.metadata)) return { file, line, problem: 'no object: it has no metadata' }
  return { file, line, object: object as unknown as KubeObject }
}
