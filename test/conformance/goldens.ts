/**
 * `npm run goldens`: replays every recorded case against a fresh `sluice up --bare` and reports per group what was answered
 * as recorded. Fails when a group is under 95 %, or with --check-doc when docs/compatibility.md is not accurate.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startBareServer } from '../machine/bare-server.ts'
import { runProgram } from '../machine/interrupt.ts'
import { checkDocument, writeDocument } from './compatibility.ts'
import { type Case, runAll } from './replay/run-all.ts'
import { readTarget } from './replay/target.ts'
import { readTranscripts } from './replay/transcript.ts'
import { type Group, groupsOf, jsonReport, printReport, SHARE_WANTED } from './report.ts'

const FOLDER = 'test/conformance/goldens'
/** Further recordings by `record.ts`. */
const MORE = 'test/conformance/more'
const DOCUMENT = 'docs/compatibility.md'

const USAGE = `npm run goldens -- [options]
  --only REGEX          sequences whose name matches
  --show N              the differences of the first N misses (default 0: one line each)
  --json FILE           the whole result as JSON
  --side-by-side N      sequences at once (default 8)
  --kubeconfig FILE     replay against that server instead of a fresh one
  --check-doc           also check that ${DOCUMENT} lists exactly the misses, each with a reason
  --write-doc           write the misses into ${DOCUMENT}, keeping the reasons that are there`

await runProgram(async (later) => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      show: { type: 'string', default: '0' },
      json: { type: 'string' },
      'side-by-side': { type: 'string', default: '8' },
      kubeconfig: { type: 'string' },
      'check-doc': { type: 'boolean', default: false },
      'write-doc': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  const only = values.only === undefined ? undefined : new RegExp(values.only)
  const sequences = [...readTranscripts(FOLDER), ...readTranscripts(MORE, 'more/')].filter((sequence) => only?.test(sequence.name) ?? true)
  const kubeconfig = values.kubeconfig ?? (await freshServer(later))
  const target = readTarget(kubeconfig)
  later(() => target.close())
  const cases = await runAll(sequences, { target, sideBySide: Number(values['side-by-side']), runId: randomBytes(4).toString('hex') })
  const groups = groupsOf(cases)
  printReport(cases, groups, Number(values.show))
  if (values.json !== undefined) writeFileSync(values.json, jsonReport(cases, groups))
  const isWhole = only === undefined
  if (values['write-doc'] && isWhole) writeFileSync(DOCUMENT, writeDocument(readFileSync(DOCUMENT, 'utf8'), cases))
  const problems = [...groupsUnder(groups, isWhole), ...(values['check-doc'] && isWhole ? documentProblems(cases) : [])]
  for (const problem of problems) console.log(problem)
  console.log(closingLine(cases))
  return problems.length === 0 ? 0 : 1
})

async function freshServer(later: (step: () => Promise<void>) => void): Promise<string> {
  const server = await startBareServer()
  later(() => server.stop())
  return server.kubeconfig
}

/** With --only the percentages of a part mean nothing, so every miss counts. */
function groupsUnder(groups: Group[], isWhole: boolean): string[] {
  return groups
    .filter((group) => (isWhole ? group.share < SHARE_WANTED : group.failed > 0))
    .map(
      (group) =>
        `${group.name}: ${group.failed} of ${group.passed + group.failed} cases differ${isWhole ? `, ${SHARE_WANTED * 100} % are wanted` : ''}`,
    )
}

function documentProblems(cases: Case[]): string[] {
  return checkDocument(readFileSync(DOCUMENT, 'utf8'), cases).map((problem) => `${DOCUMENT}: ${problem}`)
}

function closingLine(cases: Case[]): string {
  const counted = cases.filter((one) => one.apart === undefined)
  const passed = counted.filter((one) => one.differences.length === 0).length
  return `${passed} passed, ${counted.length - passed} failed`
}
