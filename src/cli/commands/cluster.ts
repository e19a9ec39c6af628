/** `sluice cluster stop|start NAME`: cuts a member of a running `up` off, as if its network had failed, and reconnects it. */

import { connectionOf, parseKubeconfig } from '../../client/kubeconfig.ts'
import { undiciTransport } from '../../client/transport/undici.ts'
import { readAll } from '../../client/transport.ts'
import { memberPath } from '../../fleet/membership/members-path.ts'
import { dataDir, readRun, readSettings } from '../data-dir.ts'
import { kubeconfigHost } from '../kubeconfig-host.ts'
import { CommandError, type Machine } from '../machine.ts'

export async function cluster(machine: Machine, verb: 'stop' | 'start', name: string, options: { dataDir?: string }): Promise<void> {
  const dir = dataDir(machine, options.dataDir)
  if ((await readRun(machine, dir)) === undefined)
    throw new CommandError(
      `nothing runs on ${dir.path}; start it with: sluice up${options.dataDir === undefined ? '' : ` --data-dir ${options.dataDir}`}`,
    )
  const text = (await machine.files.read(dir.kubeconfig)) ?? ''
  const connection = connectionOf(parseKubeconfig(text, dir.kubeconfig), 'hub', kubeconfigHost(machine, new Map()))
  const transport = undiciTransport(connection)
  try {
    const response = await transport.request({ method: 'POST', path: memberPath(name, verb), headers: {} })
    const body = (await readAll(response.body)).toString('utf8')
    if (response.status === 404) throw new CommandError(await unknown(machine, name, options))
    if (response.status !== 200) throw new CommandError(`the running process refused (HTTP ${response.status}): ${body.trim()}`)
  } finally {
    await transport.close()
  }
  machine.out(
    verb === 'stop'
      ? `${name} is cut off: nobody reaches it from outside, its pods go on running.\nSee how the fleet takes it: kubectl get clusters -w\nBring it back with:         sluice cluster start ${name}\n`
      : `${name} is back.\n`,
  )
}

async function unknown(machine: Machine, name: string, options: { dataDir?: string }): Promise<string> {
  const settings = await readSettings(machine, dataDir(machine, options.dataDir))
  const names = Array.from({ length: settings?.members ?? 0 }, (_, i) => `member${i + 1}`)
  return `there is no member ${name} here; there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ') || 'none'}. Clusters that were joined are stopped where they run`
}
