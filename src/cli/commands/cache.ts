/**
 * `sluice cache`: the programs of the builtin cache, as its pods run them. They are a file of their own beside this program, which
 * pods of process nodes start directly: it is loaded into this process, and its exit code is the command's.
 */
import { CommanderError } from 'commander'
import { CommandError, type Machine } from '../machine.ts'

export async function cache(machine: Machine, args: readonly string[]): Promise<void> {
  const file = machine.files.resolve(machine.program.file, '..', 'cache.mjs')
  if (!(await machine.files.exists(file))) throw new CommandError(`${file} is missing: build it with npm run build`)
  const code = await machine.processes.load(file, args)
  if (code !== 0) throw new CommanderError(code, 'sluice.cache', 'the program has said why')
}
