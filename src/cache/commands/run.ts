/** Chooses the command of the arguments. Resolves to the exit code: 2 for arguments that are none, 1 for a failure, or the command's own. */
import { messageOf } from '../../base/error-text.ts'
import { clear, decommission, mountUfs, preload, recommission, reportSummary } from './ask-master.ts'
import { backup, restore } from './backup.ts'
import { client } from './client.ts'
import type { Deps } from './deps.ts'
import { load } from './load.ts'
import { master } from './master.ts'
import { migrate } from './migrate.ts'
import { worker } from './worker.ts'

interface Command {
  argument?: string
  /** It runs until it is ended, and what goes wrong is part of its log. Of the others it is what they answer. */
  isServer?: true
  /** May resolve to an exit code of its own, when it has said why itself. */
  run(deps: Deps, argument: string): Promise<unknown>
}

const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['master', { run: master, isServer: true }],
  ['worker', { run: worker, isServer: true }],
  ['client', { run: client, isServer: true }],
  ['mount-ufs', { run: mountUfs }],
  ['report-summary', { run: reportSummary }],
  ['preload', { run: preload }],
  ['clear', { run: clear }],
  ['load', { run: load }],
  ['migrate', { run: migrate }],
  ['backup', { run: backup }],
  ['restore', { run: restore }],
  ['decommission', { argument: '<pod>', run: decommission }],
  ['recommission', { argument: '<pod>', run: recommission }],
])

const USAGE = `usage: sluice cache ${[...COMMANDS].map(([name, { argument }]) => (argument === undefined ? name : `${name} ${argument}`)).join(' | ')}`

export async function runCommand(args: readonly string[], deps: Deps, complain: (line: string) => void): Promise<number> {
  const [name = '', argument, ...more] = args
  const command = COMMANDS.get(name)
  if (command === undefined || more.length > 0 || (command.argument === undefined) !== (argument === undefined)) {
    complain(USAGE)
    return 2
  }
  try {
    const code = await command.run(deps, argument ?? '')
    return typeof code === 'number' ? code : 0
  } catch (error) {
    if (command.isServer === true) deps.log.write('error', 'the command failed', { command: name, error: messageOf(error) })
    else complain(messageOf(error))
    return 1
  }
}
