/** Terminals by way of `script`, which needs no native module compiled for this machine. */
import { spawn } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { childrenOf, markOf } from './process-table.ts'

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The command in its own terminal: the only child is what the command line names. It exits as the command does. */
export const terminalCommand = (script: string, command: readonly string[]): string[] => [
  script,
  '-q',
  '-f',
  '-e',
  '-c',
  `exec ${command.map(quoted).join(' ')}`,
  '/dev/null',
]

/** A terminal exists a moment after its process; one whose process has ended never will. */
const TRIES = 100
const TRY_MS = 20

/** `starter` is a process started by `terminalCommand`, or one that started it. */
export async function resizeTerminal(starter: number, columns: number, rows: number): Promise<void> {
  if (!isSize(columns) || !isSize(rows)) return
  for (let tries = 0; tries < TRIES && markOf(starter) !== undefined; tries++) {
    const terminal = terminalBelow(starter)
    if (terminal !== undefined) {
      spawn('stty', ['-F', terminal, 'cols', String(columns), 'rows', String(rows)], { stdio: 'ignore' }).on('error', () => undefined)
      return
    }
    await new Promise((resolve) => setTimeout(resolve, TRY_MS))
  }
}

/** `script` itself has none: the first process below it that has one has the right one. */
function terminalBelow(starter: number): string | undefined {
  for (let pid = childrenOf(starter)[0], depth = 0; pid !== undefined && depth < 3; pid = childrenOf(pid)[0], depth++) {
    const terminal = terminalOf(pid)
    if (terminal !== undefined) return terminal
  }
  return undefined
}

function terminalOf(pid: number | undefined): string | undefined {
  try {
    const input = readlinkSync(`/proc/${pid}/fd/0`)
    return input.startsWith('/dev/pts/') ? input : undefined
  } catch {
    return undefined
  }
}

const isSize = (value: number): boolean => Number.isInteger(value) && value > 0 && value < 65_536
