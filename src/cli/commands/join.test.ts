import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fakeMachine } from '../fake-machine.ts'
import { runCommand } from '../program.ts'

/** A server where nothing listens: port 9 of this machine is the discard port, and closed. */
const NOBODY = `
apiVersion: v1
kind: Config
current-context: one
clusters: [{ name: one, cluster: { server: 'https://127.0.0.1:9' } }]
users: [{ name: one, user: { token: t } }]
contexts: [{ name: one, context: { cluster: one, user: one } }]
`

async function said(...args: string[]): Promise<string> {
  const machine = fakeMachine()
  machine.texts.set('/home/me/nobody', NOBODY)
  machine.texts.set('/home/me/torn', 'clusters: [')
  assert.equal(await runCommand(machine, args), 1, machine.said.out)
  return machine.said.err
}

describe('join and unjoin', () => {
  const hub = ['--kubeconfig', 'nobody']
  const table: [string, string[], RegExp][] = [
    ['a name that cannot be one', ['join', 'Big_One', '--cluster-kubeconfig', 'nobody', ...hub], /"Big_One" cannot name a cluster/],
    ['a name that is too long', ['join', 'a'.repeat(49), '--cluster-kubeconfig', 'nobody', ...hub], /at most 48/],
    ['a kubeconfig that is missing', ['join', 'm1', '--cluster-kubeconfig', 'missing', ...hub], /there is no file \/home\/me\/missing/],
    ['a kubeconfig that cannot be read', ['join', 'm1', '--cluster-kubeconfig', 'torn', ...hub], /\/home\/me\/torn is not YAML/],
    [
      'a context that is not there',
      ['join', 'm1', '--cluster-kubeconfig', 'nobody', '--cluster-context', 'two', ...hub],
      /has no context two \(it has: one\)/,
    ],
    ['no kubeconfig at all', ['join', 'm1', ...hub], /required option '--cluster-kubeconfig/],
    [
      'a cluster that does not answer',
      ['join', 'm1', '--cluster-kubeconfig', 'nobody', ...hub],
      /https:\/\/127.0.0.1:9 does not answer: .*\nIs it running/,
    ],
    ['a time that is none', ['unjoin', 'm1', '--wait', 'long', ...hub], /--wait takes seconds, not "long"/],
    [
      'a hub that does not answer',
      ['unjoin', 'm1', ...hub],
      /the hub at https:\/\/127.0.0.1:9 does not answer: .*\nIs it running\? `sluice up` starts it here/,
    ],
    ['no hub', ['unjoin', 'm1'], /there is no cluster to talk to/],
  ]
  for (const [name, args, expected] of table)
    it(`says what is wrong about ${name}`, async () => assert.match(await said(...args), expected))
})
