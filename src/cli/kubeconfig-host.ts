/** The machine as the kubeconfig reader needs it: files read in advance, no plug-ins unless `main.ts` supplies a way to run them. */
import type { KubeconfigHost } from '../client/credentials.ts'
import { KubeconfigError } from '../client/credentials.ts'
import type { Machine } from './machine.ts'

export function kubeconfigHost(machine: Machine, texts: ReadonlyMap<string, string>): KubeconfigHost {
  return {
    readFile(path) {
      const text = texts.get(path)
      if (text === undefined) throw new KubeconfigError(`${path} cannot be read`)
      return text
    },
    resolvePath: (file, path) => machine.files.resolve(file, '..', path),
    env: (name) => machine.env(name),
    runPlugin: () => Promise.reject(new KubeconfigError('credential plug-ins are not used for clusters of this machine')),
    nowMs: () => machine.clock.now(),
  }
}
