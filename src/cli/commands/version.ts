/** `sluice version`: the version, for people or for machines. */
import { KUBERNETES_VERSION } from '../../kinds/kubernetes/version.ts'
import type { Machine } from '../machine.ts'
import { formatted } from '../output.ts'

export async function version(machine: Machine, options: { output?: string }): Promise<void> {
  const versions = { sluice: machine.program.version, kubernetes: KUBERNETES_VERSION.gitVersion, node: machine.program.node }
  const text = `sluice ${versions.sluice} (speaks Kubernetes ${versions.kubernetes}, on Node ${versions.node})\n`
  machine.out(formatted(versions, options.output) ?? text)
}
