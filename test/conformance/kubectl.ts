/**
 * `npm run test:kubectl`: the recorded kubectl sessions against `sluice up --bare`: those that need no controllers on the
 * bare server, then all with the real controllers next to it; then all on a member of `sluice up` with two simulated nodes,
 * where our own controllers do the work. Exit codes are also checked with every other kubectl that is found.
 */
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { ownKindsOf } from '../../src/composition.ts'
import { CONTROL_PLANE, type Kubectl, missingAssets, otherKubectls, recordedKubectl } from '../machine/assets.ts'
import { type BareServer, startBareServer } from '../machine/bare-server.ts'
import { startControlPlane } from '../machine/control-plane.ts'
import { type Cleanup, runProgram } from '../machine/interrupt.ts'
import { startMemberServer } from '../machine/member-server.ts'
import { table } from '../machine/table.ts'
import { type CommandOutcome, runSession } from './sessions/run-session.ts'
import { needsControllers, readSessions, runsAlone, type Session } from './sessions/session.ts'

const FOLDER = 'test/conformance/kubectl'
const SIDE_BY_SIDE = 3
/** A bare server has none of them. */
const OWN_GROUPS = [...new Set(ownKindsOf('hub').map(({ definition }) => definition.group))]

const USAGE = `npm run test:kubectl -- [options]
  --only REGEX        sessions whose name matches
  --show N            the differences of the first N commands (default 20)
  --no-controllers    only the sessions that need none (a part of npm test)
  --member            only the member of two simulated nodes`

/** Where sessions are replayed. */
type Beside = 'bare' | 'with controllers' | 'on two simulated nodes'

interface Round {
  title: string
  kubectl: Kubectl
  sessions: Session[]
  hasControllers: boolean
  comparesOutput: boolean
  ownGroups: readonly string[]
}

type Server = Pick<BareServer, 'kubeconfig'>

interface Result {
  title: string
  outcomes: CommandOutcome[]
}

await runProgram(async (later) => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      show: { type: 'string', default: '20' },
      'no-controllers': { type: 'boolean', default: false },
      member: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  const only = new RegExp(values.only ?? '')
  const sessions = readSessions(FOLDER).filter((session) => only.test(session.scenario))
  const skipped: string[] = []
  const alone = sessions.filter((session) => !needsControllers(session))
  const results = [
    ...(values.member ? [] : await withoutControllers(alone, skipped, later)),
    ...(values.member || values['no-controllers'] ? [] : await withControllers(sessions, skipped, later)),
    ...(values['no-controllers'] ? [] : await onMember(sessions, skipped, later)),
  ]
  return report(results, skipped, Number(values.show))
})

/** Both kinds of kubectl: the recorded one for its exact output, others for their exit codes. */
function rounds(sessions: Session[], beside: Beside, skipped: string[]): Round[] {
  const recorded = recordedKubectl()
  if (recorded === undefined) skipped.push(`recorded output, ${beside}: ${missingAssets(['kubectl'])}`)
  const others = otherKubectls()
  if (others.length === 0) skipped.push(`exit codes of another kubectl, ${beside}: no other kubectl from 1.28 on in PATH`)
  const round = (kubectl: Kubectl, comparesOutput: boolean): Round => ({
    title: `kubectl ${kubectl.version} ${comparesOutput ? '' : '(exit codes) '}${beside}`,
    kubectl,
    sessions,
    hasControllers: beside !== 'bare',
    comparesOutput,
    ownGroups: beside === 'on two simulated nodes' ? OWN_GROUPS : [],
  })
  return [...(recorded === undefined ? [] : [round(recorded, true)]), ...others.map((kubectl) => round(kubectl, false))]
}

async function withoutControllers(sessions: Session[], skipped: string[], later: Cleanup): Promise<Result[]> {
  const todo = rounds(sessions, 'bare', skipped)
  if (todo.length === 0 || sessions.length === 0) return []
  const server = await startBareServer()
  later(() => server.stop())
  return inTurn(todo, server)
}

async function withControllers(sessions: Session[], skipped: string[], later: Cleanup): Promise<Result[]> {
  const missing = missingAssets(['kubectl', ...CONTROL_PLANE])
  if (missing !== undefined) {
    skipped.push(`with controllers: ${missing}`)
    return []
  }
  const server = await startBareServer()
  later(() => server.stop())
  const controlPlane = await startControlPlane(server)
  later(() => controlPlane.stop())
  return inTurn(rounds(sessions, 'with controllers', skipped), server)
}

async function onMember(sessions: Session[], skipped: string[], later: Cleanup): Promise<Result[]> {
  const todo = rounds(sessions, 'on two simulated nodes', skipped)
  if (todo.length === 0 || sessions.length === 0) return []
  const server = await startMemberServer()
  later(() => server.stop())
  return inTurn(todo, server)
}

async function inTurn(todo: Round[], server: Server): Promise<Result[]> {
  const results: Result[] = []
  for (const round of todo) results.push({ title: round.title, outcomes: await runRound(round, server) })
  return results
}

async function runRound(round: Round, server: Server): Promise<CommandOutcome[]> {
  const runId = randomBytes(3).toString('hex')
  const found: CommandOutcome[][] = []
  const [alone, together] = [true, false].map((wanted) =>
    [...round.sessions.entries()].filter(([, session]) => runsAlone(session) === wanted),
  )
  const worker = async (queue: [number, Session][]): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [at, session] = next
      const { hasControllers, comparesOutput, ownGroups, kubectl } = round
      found[at] = await runSession(session, {
        kubectl: kubectl.path,
        kubeconfig: server.kubeconfig,
        id: `${runId}-${at}`,
        hasControllers,
        comparesOutput,
        ownGroups,
      })
      console.log(`${round.title}: ${session.scenario}: ${tally(found[at] ?? [])}`)
    }
  }
  await worker(alone ?? [])
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => worker(together ?? [])))
  return found.flat()
}

function report(results: Result[], skipped: string[], show: number): number {
  const misses = results.flatMap(({ title, outcomes }) => outcomes.filter(hasFailed).map((outcome) => ({ title, ...outcome })))
  for (const miss of misses.slice(0, show))
    console.log(`\n${miss.title}: ${miss.scenario}: kubectl ${miss.cmd}\n  ${miss.differences.join('\n  ')}`)
  if (misses.length > show) console.log(`\n… and ${misses.length - show} more (--show N)`)
  const passed = results.flatMap(({ outcomes }) => outcomes).length - misses.length
  console.log(
    `\n${table(
      ['round', 'commands'],
      results.map(({ title, outcomes }) => [title, tally(outcomes)]),
    )}`,
  )
  for (const reason of skipped) console.log(`skipped: ${reason}`)
  for (const scenario of new Set(misses.map((miss) => miss.scenario))) console.log(`failed: ${scenario}`)
  console.log(`${passed} passed, ${misses.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`)
  return misses.length > 0 ? 1 : 0
}

function hasFailed(outcome: CommandOutcome): boolean {
  return outcome.differences.length > 0
}

function tally(outcomes: CommandOutcome[]): string {
  const failed = outcomes.filter(hasFailed).length
  return `${outcomes.length - failed} passed, ${failed} failed`
}
