/** `sluice version`: what this is, for people or for machines. */
import { stringify } from 'yaml'
import { KUBERNETES_VERSION } from '../../kinds/kubernetes/version.ts'
import { CommandError, type Machine } from '../machine.ts'

export async function version(machine: Machine, options: { output?: string }): Promise<void> {
  const facts = { sluice: machine.program.version, kubernetes: KUBERNETES_VERSION.gitVersion, node: machine.program.node }
  if (options.output === 'json') machine.out(`${JSON.stringify(facts, null, 2)}\n`)
  else if (options.output === 'yaml') machine.out(stringify(facts))
  else if (options.output === undefined)
    machine.out(`sluice ${facts.sluice} (speaks Kubernetes ${facts.kubernetes}, on Node ${facts.node})\n`)
  else throw new CommandError(`-o takes json or yaml, not ${JSON.stringify(options.output)}`)
}
