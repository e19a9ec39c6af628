/**
 * `npm run test:kube`: what must also hold on a real kube-apiserver: our client's suite, the reference controller's stories,
 * and `sluice controllers` as people run it. Without the binaries it says so and fails: there is nothing to compare with.
 */
import { parseArgs } from 'node:util'
import { type CheckResult, countFailed, printResult, runChecks } from '../clients/check.ts'
import { missingAssets } from '../machine/assets.ts'
import { type Cleanup, runProgram } from '../machine/interrupt.ts'
import { privateProgram } from '../machine/program.ts'
import { startRealServer } from '../machine/real-server.ts'
import { runCommand } from '../machine/run-command.ts'
import { besideTheOriginals, instead } from './controllers.ts'

/** A suite of node:test files that find the server in their environment. */
async function suite(name: string, files: string[], later: Cleanup): Promise<CheckResult[]> {
  const server = await startRealServer()
  later(() => server.stop())
  const env = { ...process.env, SLUICE_TEST_KUBECONFIG: server.kubeconfig }
  const run = await runCommand(process.execPath, ['scripts/unit.mjs', ...files], { env, timeoutMs: 600_000 })
  const [, passed = '0'] = /^# pass (\d+)$/m.exec(run.stdout) ?? []
  for (const [line] of run.stdout.matchAll(/^flaky: .*$/gm)) console.log(line)
  const error =
    run.exitCode === 0 && passed !== '0'
      ? undefined
      : run.stdout
          .split('\n')
          .filter((line) => !/^\s*(ok|#)/.test(line))
          .slice(0, 80)
          .join('\n')
  await server.stop()
  return [printResult({ part: name, name: `${passed} tests on a real kube-apiserver`, error })]
}

const PARTS: Record<string, (later: Cleanup) => Promise<CheckResult[]>> = {
  client: (later) => suite('client', ['test/client/kube.test.ts'], later),
  reference: (later) => suite('reference', ['test/kube/reference.test.ts'], later),
  async controllers(later) {
    const program = await privateProgram()
    later(async () => program.remove())
    const server = await startRealServer()
    later(() => server.stop())
    const alone = await runChecks('controllers', instead(server, program, later), true)
    await server.stop()
    const whole = await startRealServer(
      '--controllers',
      '--scheduler',
      '--kwok',
      '1',
      '--arg',
      'kube-controller-manager=--leader-elect=true',
    )
    later(() => whole.stop())
    return [...alone, ...(await runChecks('controllers beside the originals', besideTheOriginals(whole, program, later), true))]
  },
}

await runProgram(async (later) => {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
  const missing = missingAssets(['kubectl', 'kube-controller-manager', 'kube-scheduler', 'kwok'])
  if (missing !== undefined) {
    console.log(missing)
    return 1
  }
  const results: CheckResult[] = []
  for (const [name, run] of Object.entries(PARTS)) if (values.only === '' || values.only === name) results.push(...(await run(later)))
  const failed = countFailed(results)
  console.log(`${results.length - failed} passed, ${failed} failed`)
  return failed === 0 && results.length > 0 ? 0 : 1
})
