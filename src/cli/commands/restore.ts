/** `sluice restore`: a new data directory from a backup. The first start creates new certificates. */
import { restoreBackup, StoreRefusedError } from '../../store/index.ts'
import { dataDir, FORMAT, writeSettings } from '../data-dir.ts'
import { CommandError, type Machine } from '../machine.ts'
import { startProgress } from '../progress.ts'

export async function restore(machine: Machine, file: string, options: { dataDir: string }): Promise<void> {
  const dir = dataDir(machine, options.dataDir)
  const source = machine.files.resolve(machine.cwd, file)
  if (!(await machine.files.exists(source))) throw new CommandError(`there is no file ${source}; name one that \`sluice backup\` wrote`)
  if (await machine.files.exists(dir.settings))
    throw new CommandError(`${dir.path} already holds a data directory; restore makes a new one: name another with --data-dir`)
  const progress = startProgress(machine)
  progress.step('restoring')
  try {
    await machine.files.makeDirectory(dir.path)
    const summary = await restoreBackup(source, dir.store, { clock: machine.clock })
    const members = summary.clusters.filter((cluster) => cluster.name !== 'hub').length
    await writeSettings(machine, dir, { format: FORMAT, members, ports: {}, kept: {} })
    progress.done()
    const rows = summary.clusters.map((cluster) => `  ${cluster.name}: ${cluster.objects} objects, next revision after ${cluster.revision}`)
    machine.out(`Restored into ${dir.path}:\n${rows.join('\n')}\n\nStart it with: sluice up --data-dir ${options.dataDir}\n`)
  } catch (error) {
    throw error instanceof StoreRefusedError ? new CommandError(error.message, error) : error
  } finally {
    progress.done()
  }
}
