/** What must hold for every answer, whatever the request. */
import { parse } from 'yaml'
import type { FuzzRequest } from './request.ts'
import type { Answer } from './server.ts'

export interface Finding {
  kind: 'crash' | 'hang' | 'internal' | 'status' | 'pollution' | 'slow' | 'memory' | 'wedge'
  /** The same text is the same fault. */
  signature: string
  detail: string
}

/** Paths that return plain text on the real server too. */
const isTextPath = (url: string): boolean => !/^\/+apis?(\/|\?|$)/.test(url) || /^[^/]/.test(url)

export function judgeAnswer(request: FuzzRequest, answer: Answer): Finding | undefined {
  const fault = (signature: string): Finding => ({
    kind: 'status',
    signature,
    detail: `HTTP ${answer.status} ${answer.contentType} ${answer.body.toString('utf8').slice(0, 600)}`,
  })
  // Input that is not HTTP is answered by the HTTP parser, in its own words or not at all.
  const isPlain = !answer.contentType.startsWith('application/json')
  if (request.overTls === true && (answer.status === 0 || ([400, 405, 431].includes(answer.status) && isPlain))) return undefined
  if (!Number.isInteger(answer.status) || answer.status < 100 || answer.status > 599) return fault('no status')
  if (answer.status < 400) return undefined
  if (request.method === 'HEAD') return undefined
  if (answer.contentType.startsWith('application/yaml')) return judgeStatus(() => parse(answer.body.toString('utf8')), answer, fault)
  if (isPlain)
    return isTextPath(request.url) || isNoSuchPath(answer) ? undefined : fault(`an error of type ${answer.contentType || 'none'}`)
  return judgeStatus(() => JSON.parse(answer.body.toString('utf8')), answer, fault)
}

/** How the real server reports that nothing exists at a path, or that a path is invalid. */
const isNoSuchPath = (answer: Answer): boolean => {
  const text = answer.body.toString('utf8').trimEnd()
  return (answer.status === 404 && text === '404 page not found') || (answer.status === 400 && text === '400 Bad Request')
}

function judgeStatus(read: () => unknown, answer: Answer, fault: (signature: string) => Finding): Finding | undefined {
  let status: Record<string, unknown>
  try {
    status = read() as Record<string, unknown>
  } catch {
    return fault(`an error that is no ${answer.contentType}`)
  }
  if (status.kind !== 'Status' || status.apiVersion !== 'v1' || status.status !== 'Failure') {
    return fault('an error that is no Status')
  }
  if (typeof status.message !== 'string' || status.message === '') return fault('a Status without a message')
  if (status.code !== answer.status) return fault('a Status whose code is not that of the answer')
  if (status.reason === undefined && answer.status !== 500) return fault(`a Status ${answer.status} without a reason`)
  return undefined
}

/** Unexpected errors of the server, named by where they were thrown. */
export function internalFinding(error: unknown): Finding {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const lines = stack.split('\n')
  const where = lines.find((line) => /\/src\//.test(line))?.replace(/^.*\/src\//, 'src/') ?? lines[1] ?? ''
  return {
    kind: 'internal',
    signature: `${String(lines[0]).slice(0, 120)} at ${where.replace(/\)$/, '')}`,
    detail: lines.slice(0, 8).join('\n'),
  }
}

/** A message without what differs from request to request, for counting. */
export function kindOfMessage(body: Buffer): string {
  const text = body.toString('utf8').slice(0, 5000)
  const message = /"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text
  return message
    .replace(/^(failed to create typed patch object) .*$/, '$1 …')
    .replace(/^([^:]*(?:patch type|not identical|merge key|ParseUint)[^:]*):.*$/, '$1: …')
    .replace(/\\"(?:[^"\\]|\\[^"])*\\"/g, '"…"')
    .replace(/\d+/g, 'N')
    .replace(/\([^)]*\)/g, '(…)')
    .slice(0, 110)
}
