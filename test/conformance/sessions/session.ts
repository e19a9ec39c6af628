/** Recorded kubectl sessions (../kubectl/*.json): their types, their reader, and which of them need controllers. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

export interface SessionStep {
  cmd: string
  stdin?: string
  env?: Record<string, string>
  exitCode: number
  stdout: string
  stderr: string
  table?: boolean
  sortLines?: boolean
  last?: boolean
  firstLine?: boolean
  filtered?: boolean
  until?: string
}

export interface Session {
  scenario: string
  files: Record<string, string>
  steps: SessionStep[]
}

/** Sessions whose output shows the work of a controller. Found by replaying all on a real API server without any. */
const NEED_CONTROLLERS = new Map([
  ['create-generators', 'lists the default service account and kube-root-ca.crt'],
  ['delete-variants', 'waits for garbage collection'],
  ['label-annotate', 'labels kube-root-ca.crt'],
  ['rollout', 'rolls out a Deployment'],
  ['wait', 'waits for running pods'],
])

export const needsControllers = (session: Session): boolean => NEED_CONTROLLERS.has(session.scenario)

/** It shows everything the server serves, including what a concurrent session defines temporarily. */
export const runsAlone = (session: Session): boolean => session.scenario === 'discovery'

export function readSessions(folder: string): Session[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Session)
}

/** Splits a command line as a shell would, quotes only. */
export function words(line: string): string[] {
  const out: string[] = []
  let word = ''
  let quote: string | undefined
  let isQuoted = false
  const finish = (): void => {
    if (word !== '' || isQuoted) out.push(word)
    word = ''
    isQuoted = false
  }
  for (const char of line) {
    if (quote !== undefined) {
      if (char === quote) quote = undefined
      else word += char
    } else if (char === "'" || char === '"') {
      quote = char
      isQuoted = true
    } else if (char === ' ') finish()
    else word += char
  }
  finish()
  return out
}
