/** `sluice backup`: asks the running process for a consistent copy; if none runs, reads the store itself. */
import { BACKUP_PATH } from '../../apiserver/backup-path.ts'
import { connectionOf, parseKubeconfig } from '../../client/kubeconfig.ts'
import { undiciTransport } from '../../client/transport/undici.ts'
import { backup as backupStore, openJournalStore, StoreRefusedError } from '../../store/index.ts'
import { type DataDir, dataDir, readRun } from '../data-dir.ts'
import { kubeconfigHost } from '../kubeconfig-host.ts'
import { CommandError, type FileSink, type Machine } from '../machine.ts'
import { startProgress } from '../progress.ts'

export async function backupCommand(machine: Machine, file: string, options: { dataDir?: string }): Promise<void> {
  const dir = dataDir(machine, options.dataDir)
  const target = machine.files.resolve(machine.cwd, file)
  if (!(await machine.files.exists(dir.settings)))
    throw new CommandError(`there is nothing to back up in ${dir.path}; name the right place with --data-dir`)
  if (await machine.files.exists(target)) throw new CommandError(`${target} exists; a backup never overwrites a file, choose another name`)
  const progress = startProgress(machine)
  progress.step('writing the backup')
  const sink = await machine.files.createStream(target)
  try {
    const bytes = (await readRun(machine, dir)) === undefined ? await fromStore(machine, dir, sink) : await fromServer(machine, dir, sink)
    await sink.close()
    progress.done()
    machine.out(`Wrote ${target} (${bytes} bytes).\nGet it back with: sluice restore ${file} --data-dir NEW\n`)
  } catch (error) {
    await sink.discard()
    throw error instanceof StoreRefusedError ? new CommandError(error.message, error) : error
  } finally {
    progress.done()
  }
}

async function fromServer(machine: Machine, dir: DataDir, sink: FileSink): Promise<number> {
  const text = (await machine.files.read(dir.kubeconfig)) ?? ''
  const config = parseKubeconfig(text, dir.kubeconfig)
  const transport = undiciTransport(connectionOf(config, 'hub', kubeconfigHost(machine, new Map())))
  try {
    const response = await transport.request({ method: 'GET', path: BACKUP_PATH, headers: {}, isStream: true })
    if (response.status !== 200)
      throw new CommandError(
        `the running process refused the backup (HTTP ${response.status}); its output says why, or stop it (sluice down) and try again`,
      )
    let bytes = 0
    for await (const chunk of response.body) {
      await sink.write(chunk)
      bytes += chunk.length
    }
    return bytes
  } finally {
    await transport.close()
  }
}

async function fromStore(machine: Machine, dir: DataDir, sink: FileSink): Promise<number> {
  const store = await openJournalStore({ dir: dir.store, clock: machine.clock, onFatal: (error) => machine.err(`${error.message}\n`) })
  try {
    return (await backupStore(store, (chunk) => sink.write(chunk), machine.clock)).bytes
  } finally {
    await store.close()
  }
}
