/** Chooses the command of the arguments. Resolves to the exit code: 2 for arguments that are none, 1 for a failure. */
import { messageOf } from '../../base/error-text.ts'
import { decommission, mountUfs, preload, reportSummary } from './ask-master.ts'
import { client } from './client.ts'
import type { Deps } from './deps.ts'
import { master } from './master.ts'
import { worker } from './worker.ts'

const COMMANDS: ReadonlyMap<string, { argument?: string; run(deps: Deps, argument: string): Promise<void> }> = new Map([
  ['master', { run: master }],
  ['worker', { run: worker }],
  ['client', { run: client }],
  ['mount-ufs', { run: mountUfs }],
  ['report-summary', { run: reportSummary }],
  ['preload', { run: preload }],
  ['decommission', { argument: '<pod>', run: decommission }],
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
    await command.run(deps, argument ?? '')
    return 0
  } catch (error) {
    deps.log.write('error', 'the command failed', { command: name, error: messageOf(error) })
    return 1
  }
}
