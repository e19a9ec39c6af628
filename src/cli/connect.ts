/** Which API server a command means: --kubeconfig, $KUBECONFIG, ./.sluice/kubeconfig, then the pod it runs in. */
import { KubeconfigError } from '../client/credentials.ts'
import { type Connection, connectionOf, inClusterConnection, parseKubeconfig } from '../client/kubeconfig.ts'
import { hostOfThisMachine } from '../client/transport/host.ts'
import { dataDir } from './data-dir.ts'
import { CommandError, type Machine } from './machine.ts'

export interface ConnectOptions {
  kubeconfig?: string
  context?: string
}

export async function connectionFor(machine: Machine, options: ConnectOptions): Promise<Connection> {
  const host = hostOfThisMachine()
  try {
    const file = await kubeconfigFile(machine, options)
    if (file === undefined) {
      const inside = inClusterConnection(host)
      if (inside !== undefined) return inside
      throw new CommandError('there is no cluster to talk to: give --kubeconfig FILE, set KUBECONFIG, or start one here with: sluice up')
    }
    const text = await machine.files.read(file)
    if (text === undefined) throw new CommandError(`there is no file ${file}`)
    return connectionOf(parseKubeconfig(text, file), options.context, host)
  } catch (error) {
    if (error instanceof KubeconfigError) throw new CommandError(error.message, error)
    throw error
  }
}

async function kubeconfigFile(machine: Machine, { kubeconfig }: ConnectOptions): Promise<string | undefined> {
  if (kubeconfig !== undefined) return machine.files.resolve(machine.cwd, kubeconfig)
  const [fromEnv] = (machine.env('KUBECONFIG') ?? '').split(':')
  if (fromEnv !== undefined && fromEnv !== '') return machine.files.resolve(machine.cwd, fromEnv)
  const own = dataDir(machine, undefined).kubeconfig
  return (await machine.files.exists(own)) ? own : undefined
}
