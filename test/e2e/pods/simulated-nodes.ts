/** A Sluice whose pods are all simulated, by the user's own table, on any number of nodes. */
import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import type { Node } from '../../../src/kinds/kubernetes/types.ts'
import type { Person } from '../person.ts'
import { aPod, containerOf, Place, shell } from './place.ts'

const STAGES = `
- {name: starts, from: bound, to: running, delayMs: 100}
- {name: fails, from: running, to: failed, ends: true, delayMs: 100, jitterMs: 100, exitCode: 3}
- {name: goes, from: terminating, to: gone, delayMs: 0}
`

export async function simulatedNodes(person: Person, dir: string): Promise<void> {
  const p = new Place(person, dir)
  const file = person.file('stages.yaml')
  writeFileSync(file, STAGES)
  chmodSync(file, 0o644)
  await p.up('--members', '1', '--nodes', '6', '--node-size', 'cpu=2,memory=1Gi', '--process-nodes', '0', '--stages', file)
  const nodes = await p.list<Node>('/api/v1/nodes')
  assert.deepEqual(
    nodes.map(({ metadata, status }) => `${metadata.name} ${status?.capacity?.cpu} ${status?.capacity?.memory}`),
    [1, 2, 3, 4, 5, 6].map((number) => `member1-simulated-${number} 2 1Gi`),
  )
  await p.apply(aPod('played', { restartPolicy: 'Never', containers: [shell('true')] }))
  const pod = await p.podWhen('played', ({ status }) => status?.phase === 'Failed')
  assert.equal(containerOf(pod, 'main')?.state?.terminated?.exitCode, 3)
  assert.match(pod.status?.conditions?.find(({ type }) => type === 'sluice.dev/Simulated')?.message ?? '', /--process-nodes 1/)
  const down = await person.sluice('down', '--data-dir', dir)
  assert.equal(down.exitCode, 0, down.stdout + down.stderr)
  await p.up()
  assert.equal((await p.list<Node>('/api/v1/nodes')).length, nodes.length, 'a start without options finds the nodes of before')
  assert.equal((await person.sluice('down', '--data-dir', dir)).exitCode, 0)
}
