/**
 * The API server's connections to a member's nodes: process nodes answer from the machine, worded as by a kubelet;
 * simulated ones say that nothing runs there, and what to do about it. Other nodes have no connection.
 */
import type { LogRequest, NodeConnection, NodeConnections, PodContainer, StreamRequest } from '../../kube/node-connections.ts'
import { badRequestError, failure } from '../../kube/status.ts'
import type { ContainerMachine, RunId, RunState } from '../kubelet/container-machine.ts'
import { NODE_LABEL, RUN_ANNOTATION } from '../shape.ts'

/** `machineOf` returns the machine of a process node. */
export function memberConnections(machineOf: (node: string) => ContainerMachine | undefined): NodeConnections {
  return {
    find(node) {
      const labels = (node.metadata.labels ?? {}) as Record<string, unknown>
      if (Object.hasOwn(labels, NODE_LABEL) && labels[NODE_LABEL] === 'simulated') return SIMULATED
      const machine = machineOf(node.metadata.name ?? '')
      return machine === undefined ? undefined : machineConnection(machine)
    },
  }
}

const refuseSimulated = async (of: PodContainer): Promise<never> => {
  throw badRequestError(
    `pod ${JSON.stringify(of.pod)} is simulated: its life is played and no program of it runs, so there is nothing to read or to run commands in. ` +
      `To run it for real, give its containers a command that is installed here or map their images (up --image NAME=DIR), ` +
      `or annotate it or its namespace with ${RUN_ANNOTATION}: process, and create it again.`,
  )
}

const SIMULATED: NodeConnection = Object.freeze({ logs: refuseSimulated, exec: refuseSimulated, attach: refuseSimulated })

type Run = RunId & { state: RunState }

function machineConnection(machine: ContainerMachine): NodeConnection {
  const runsOf = (of: PodContainer): Run[] => machine.runsOf(of.podUid).filter((run) => run.container === of.container)
  const running = (of: PodContainer): Run => {
    const newest = runsOf(of).at(-1)
    if (newest?.state.phase === 'running') return newest
    throw failure(
      500,
      'InternalError',
      `Internal error occurred: unable to upgrade connection: container not found (${JSON.stringify(of.container)})`,
    )
  }
  return {
    async logs(of, request) {
      const run = runToRead(runsOf(of), of, request)
      return (sink) => machine.readLog(run, request, sink)
    },
    exec: async (of, request, output) => withInput(await machine.exec(running(of), { ...request, ...output }), request),
    attach: async (of, request, output) => withInput(await machine.attach(running(of), { ...request, ...output }), request),
  }
}

/** A command started without stdin reads end-of-file at once. */
function withInput<S extends { endInput(): void }>(session: S, request: StreamRequest & { command?: readonly string[] }): S {
  if (!request.stdin && request.command !== undefined) session.endInput()
  return session
}

function runToRead(runs: readonly Run[], of: PodContainer, request: LogRequest): Run {
  const hasLog = (run: Run): boolean => run.state.phase === 'running' || run.state.phase === 'exited'
  const newest = runs.at(-1)
  const where = `container ${JSON.stringify(of.container)} in pod ${JSON.stringify(of.pod)}`
  const earlier = runs.slice(0, -1).filter(hasLog).at(-1)
  if (request.previous) {
    if (earlier === undefined) throw badRequestError(`previous terminated ${where} not found`)
    return earlier
  }
  const found = newest !== undefined && hasLog(newest) ? newest : earlier
  if (found !== undefined) return found
  throw badRequestError(`${where} is waiting to start: ${newest?.state.phase === 'failed' ? newest.state.reason : 'ContainerCreating'}`)
}
