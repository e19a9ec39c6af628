/**
 * `npm run test:clients`: common clients against a fresh `sluice up --bare`: client-go, @kubernetes/client-node, and
 * Kubernetes' own controllers. What this machine cannot run is skipped, with the reason.
 */
import { parseArgs } from 'node:util'
import { CONTROL_PLANE, missingAssets } from '../machine/assets.ts'
import { type BareServer, startBareServer } from '../machine/bare-server.ts'
import { startControlPlane } from '../machine/control-plane.ts'
import { type Cleanup, runProgram } from '../machine/interrupt.ts'
import { type CheckResult, countFailed, printResult, runChecks } from './check.ts'
import { checkClientGo, missingGo } from './client-go.ts'
import { clientNodeChecks } from './client-node.ts'
import { controllerChecks } from './controllers.ts'

interface Part {
  name: string
  missing(): Promise<string | undefined>
  run(server: BareServer, later: Cleanup): Promise<CheckResult[]>
}

const PARTS: Part[] = [
  {
    name: 'client-node',
    missing: async () => undefined,
    run: (server) => runChecks('client-node', clientNodeChecks(server.kubeconfig)),
  },
  { name: 'client-go', missing: missingGo, run: checkClientGo },
  { name: 'controllers', missing: async () => missingAssets(['kubectl', ...CONTROL_PLANE]), run: checkControllers },
]

async function checkControllers(server: BareServer, later: Cleanup): Promise<CheckResult[]> {
  try {
    const controlPlane = await startControlPlane(server)
    later(() => controlPlane.stop())
    return [
      printResult({ part: 'controllers', name: 'all programs start' }),
      ...(await runChecks('controllers', controllerChecks(server, controlPlane))),
    ]
  } catch (error) {
    return [printResult({ part: 'controllers', name: 'all programs start', error: String(error) })]
  }
}

await runProgram(async (later) => {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, help: { type: 'boolean', default: false } } })
  if (values.help) {
    console.log(`npm run test:clients -- [--only ${PARTS.map((part) => part.name).join('|')}]`)
    return 0
  }
  const results: CheckResult[] = []
  const skipped: string[] = []
  for (const part of PARTS.filter(({ name }) => values.only === '' || values.only === name)) {
    const missing = await part.missing()
    if (missing !== undefined) {
      skipped.push(`${part.name}: ${missing}`)
      continue
    }
    const server = await startBareServer()
    later(() => server.stop())
    results.push(...(await part.run(server, later)))
  }
  for (const reason of skipped) console.log(`skipped: ${reason}`)
  const failed = countFailed(results)
  console.log(`${results.length - failed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`)
  return failed === 0 ? 0 : 1
})
