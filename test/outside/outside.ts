/**
 * `npm run test:outside`: what others wrote for Fluid, against a fresh `sluice up` with nodes that run pods: Fluid's Python SDK from
 * PyPI, and the flow of Fluid's end-to-end test of a CacheRuntime. Not part of CI: the first run installs Python packages.
 */
import { parseArgs } from 'node:util'
import { type CheckResult, countFailed } from '../clients/check.ts'
import { type Cleanup, runProgram } from '../machine/interrupt.ts'
import { startMemberServer } from '../machine/member-server.ts'
import { checkCacheRuntimeFlow, missingForFlow } from './cache-runtime-flow.ts'
import { checkPythonSdk, missingForSdk } from './python-sdk.ts'

interface Part {
  name: string
  missing(): Promise<string | undefined>
  run(server: { kubeconfig: string; folder: string }): Promise<CheckResult[]>
}

const PARTS: readonly Part[] = [
  { name: 'fluid-pysdk', missing: missingForSdk, run: checkPythonSdk },
  { name: 'cache runtime flow', missing: missingForFlow, run: checkCacheRuntimeFlow },
]
/** Workers of a dataset do not share a node: two of them, and one of another dataset. */
const NODES = ['--nodes', '0', '--process-nodes', '3']

async function runPart(part: Part, later: Cleanup): Promise<CheckResult[]> {
  const server = await startMemberServer(NODES)
  later(() => server.stop())
  const results = await part.run(server)
  await server.stop()
  return results
}

await runProgram(async (later) => {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, help: { type: 'boolean', default: false } } })
  if (values.help) {
    console.log(`npm run test:outside -- [--only ${PARTS.map(({ name }) => `"${name}"`).join('|')}]`)
    return 0
  }
  const results: CheckResult[] = []
  const skipped: string[] = []
  for (const part of PARTS.filter(({ name }) => values.only === '' || values.only === name)) {
    const missing = await part.missing()
    if (missing === undefined) results.push(...(await runPart(part, later)))
    else skipped.push(`${part.name}: ${missing}`)
  }
  for (const reason of skipped) console.log(`skipped: ${reason}`)
  const failed = countFailed(results)
  console.log(`${results.length - failed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`)
  return failed === 0 && results.length > 0 ? 0 : 1
})
