import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../../client/client.ts'
import { ApiError } from '../../client/errors.ts'
import type { ExecOptions } from '../../client/exec.ts'
import { readAll } from '../../client/transport.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { aWorld } from './world.ts'

async function run(client: Client, options: ExecOptions, input?: string): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const session = await client.exec({ namespace: 'default', name: 'p' }, options)
  const output = Promise.all([readAll(session.stdout), readAll(session.stderr)])
  if (input !== undefined) {
    await session.write(input)
    await session.endInput()
  }
  const { exitCode } = await session.result
  const [stdout, stderr] = (await output).map(String)
  return { exitCode, stdout: stdout ?? '', stderr: stderr ?? '' }
}

describe('commands in the pods of a world', () => {
  it('come out as the script says, through the real server', async () => {
    const world = await aWorld({ members: 1, nodes: 1 }).settle()
    const { member } = world
    const pod = { metadata: { name: 'p', namespace: 'default' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    await member.create({ apiVersion: 'v1', kind: 'Pod', ...pod })
    await world.settle()
    const made = await member.inside(() =>
      member.client.get<KubeObject & { status?: { phase?: string } }>(PODS, { namespace: 'default', name: 'p' }),
    )
    assert.equal(made.status?.phase, 'Running')
    member.commands.script(({ command, input }) =>
      command[0] === 'cat' ? { stdout: input } : command[0] === 'fail' ? { stderr: 'no', exitCode: 3 } : undefined,
    )
    const { client } = member
    assert.deepEqual(await member.inside(() => run(client, { command: ['cat'], stdin: true }, 'said')), {
      exitCode: 0,
      stdout: 'said',
      stderr: '',
    })
    assert.deepEqual(await member.inside(() => run(client, { command: ['fail', 'now'] })), { exitCode: 3, stdout: '', stderr: 'no' })
    assert.equal((await member.inside(() => run(client, { command: ['other'] }))).exitCode, 127)
    assert.deepEqual(
      member.commands.calls.map(({ pod: name, container, command }) => [name, container, command.join(' ')]),
      [
        ['p', 'c', 'cat'],
        ['p', 'c', 'fail now'],
        ['p', 'c', 'other'],
      ],
    )
    member.commands.log('p', 'c', 'one\ntwo\n')
    const log = await member.inside(async () => readAll(await client.log({ namespace: 'default', name: 'p' }, { tailLines: 1 })))
    assert.equal(log.toString(), 'two\n')
    await assert.rejects(
      member.inside(() => client.exec({ namespace: 'default', name: 'missing' }, { command: ['x'] })),
      (error) => error instanceof ApiError && error.code === 404,
    )
    await world.stop()
  })
})
