/**
 * Sluice as a new user starts it, on whatever Node runs this: `up --detach` in its default shape, `kubectl get ns` on every
 * context, a second `up` on the same directory refused, `down`, and everything there again after a second start.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { missingAssets, otherKubectls, recordedKubectl } from '../machine/assets.ts'
import { runProgram } from '../machine/interrupt.ts'
import { type CommandResult, runCommand } from '../machine/run-command.ts'
import { countFailed, runChecks } from './check.ts'

const CONTEXTS = ['hub', 'member1', 'member2', 'member3']

await runProgram(async (later) => {
  const kubectl = recordedKubectl() ?? otherKubectls()[0]
  if (kubectl === undefined) {
    console.log(`skipped: no kubectl in PATH, and ${missingAssets(['kubectl'])}\n0 passed, 0 failed, 1 skipped`)
    return 0
  }
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-smoke-'))
  const dataDir = path.join(folder, 'data')
  later(() => rmSync(folder, { recursive: true, force: true }))
  const sluice = (...args: string[]): Promise<CommandResult> => runCommand(process.execPath, ['sluice', ...args, '--data-dir', dataDir])
  later(async () => {
    await sluice('down')
  })
  const succeeds = async (result: Promise<CommandResult>): Promise<string> => {
    const { exitCode, stdout, stderr } = await result
    assert.equal(exitCode, 0, stderr || stdout)
    return stdout
  }
  const kube = (context: string, ...args: string[]): Promise<string> =>
    succeeds(runCommand(kubectl.path, ['--kubeconfig', path.join(dataDir, 'kubeconfig'), '--context', context, ...args]))
  const results = await runChecks(`node ${process.versions.node}`, [
    {
      name: 'up',
      async run() {
        await succeeds(sluice('up', '--detach', '--port', '0'))
      },
    },
    {
      name: 'kubectl on every context',
      async run() {
        for (const context of CONTEXTS) assert.match(await kube(context, 'get', 'ns', '-o', 'name'), /^namespace\/default$/m)
      },
    },
    {
      name: 'clusters are apart',
      async run() {
        await kube('hub', 'create', 'configmap', 'here')
        assert.doesNotMatch(await kube('member1', 'get', 'configmaps', '-o', 'name'), /here/)
      },
    },
    {
      name: 'a second up on the same directory is refused with advice',
      async run() {
        const { exitCode, stderr, stdout } = await sluice('up', '--detach', '--port', '0')
        assert.notEqual(exitCode, 0)
        assert.match(stderr + stdout, /sluice down/)
      },
    },
    {
      name: 'down, and a second start finds everything',
      async run() {
        await succeeds(sluice('down'))
        await succeeds(sluice('up', '--detach'))
        assert.match(await kube('hub', 'get', 'configmap', 'here', '-o', 'name'), /here/)
        await succeeds(sluice('down'))
      },
    },
  ])
  const failed = countFailed(results)
  console.log(`${results.length - failed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
})
