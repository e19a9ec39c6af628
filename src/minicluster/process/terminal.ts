/** Terminals by way of `script`, which makes one without any module that would have to be compiled for this machine. */
import { spawn } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { childrenOf } from './process-table.ts'

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The command in a terminal of its own: its only child is what the command line names. It ends as the command does. */
export const terminalCommand = (script: string, command: readonly string[]): string[] => [
  script,
  '--quiet',
  '--flush',
  '--return',
  '--command',
  `exec ${command.map(quoted).join(' ')}`,
  '/dev/null',
]

/** `script` is a process started by `terminalCommand`; one that has ended has no terminal to change. */
export function resizeTerminal(script: number, columns: number, rows: number): void {
  const inside = childrenOf(script)[0]
  if (inside === undefined || !isSize(columns) || !isSize(rows)) return
  let terminal: string
  try {
    terminal = readlinkSync(`/proc/${inside}/fd/0`)
  } catch {
    return
  }
  spawn('stty', ['-F', terminal, 'cols', String(columns), 'rows', String(rows)], { stdio: 'ignore' }).on('error', () => undefined)
}

const isSize = (value: number | undefined): value is number => Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536
