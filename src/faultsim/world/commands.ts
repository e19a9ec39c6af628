/**
 * Commands in the pods of a world, and their logs: nothing runs there, so a script decides each result. They are reached as
 * real ones are, through the server and the connections of its nodes, so that permissions and refusals are real.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { NodeConnection, NodeConnections, PodContainer, StreamOutput, StreamSession } from '../../kube/node-connections.ts'
import { badRequestError } from '../../kube/status.ts'

export interface CommandCall {
  namespace: string
  pod: string
  container: string
  command: readonly string[]
  /** The whole input, once the client has ended it; empty where stdin was not requested. */
  input: string
}

export interface CommandOutcome {
  stdout?: string
  stderr?: string
  /** Default 0. */
  exitCode?: number
  /** How long it goes on after it has written (default: it ends). */
  lastsMs?: number
}

/** May throw: the command could then not be run. */
export type CommandScript = (call: CommandCall) => CommandOutcome | undefined

const LATENCY_MS = 10

export class ScriptedCommands implements NodeConnections {
  /** Every command that was run, in order, including those whose client disconnected before the end. */
  readonly calls: CommandCall[] = []
  readonly #clock: Clock
  readonly #logs = new Map<string, string>()
  #script: CommandScript = () => undefined
  #served: NodeConnections | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** From now on the script decides the result of commands; undefined means that there is no such command. */
  script(script: CommandScript): void {
    this.#script = script
  }

  /** Nodes that these connections find answer for themselves, as a node with a machine does: the script is not asked. */
  serve(connections: NodeConnections): void {
    this.#served = connections
  }

  /** What a container has written. */
  log(pod: string, container: string, text: string): void {
    this.#logs.set(`${pod}/${container}`, text)
  }

  find(node: KubeObject): NodeConnection {
    const served = this.#served?.find(node)
    if (served !== undefined) return served
    return {
      logs: async (of, { tailLines, limitBytes }) => {
        const text = this.#logs.get(`${of.pod}/${of.container}`)
        if (text === undefined) throw badRequestError(`container "${of.container}" in pod "${of.pod}" has no log in this world`)
        const lines = text.split(/(?<=\n)/)
        const shown = Buffer.from((tailLines === undefined ? lines : tailLines === 0 ? [] : lines.slice(-tailLines)).join(''))
        return (sink) => {
          sink.write(shown.subarray(0, limitBytes))
          sink.end()
          return () => undefined
        }
      },
      exec: async (of, request, output) => this.#run(of, request, output),
      attach: async (of) => {
        throw badRequestError(`container "${of.container}" in pod "${of.pod}" has no terminal in this world`)
      },
    }
  }

  #run(of: PodContainer, request: { command: readonly string[]; stdin: boolean }, output: StreamOutput): StreamSession {
    const input: Uint8Array[] = []
    let endInput: () => void = () => undefined
    const inputEnded = request.stdin
      ? new Promise<void>((resolve) => {
          endInput = resolve
        })
      : Promise.resolve()
    return {
      exited: this.#outcome(of, { command: request.command, inputEnded, input }, output),
      write: async (chunk) => void input.push(chunk),
      endInput: () => endInput(),
      resize: () => undefined,
      pause: () => undefined,
      resume: () => undefined,
      kill: () => endInput(),
    }
  }

  async #outcome(
    of: PodContainer,
    asked: { command: readonly string[]; inputEnded: Promise<void>; input: readonly Uint8Array[] },
    output: StreamOutput,
  ): Promise<number> {
    await asked.inputEnded
    const { namespace, pod, container } = of
    const call = { namespace, pod, container, command: asked.command, input: Buffer.concat(asked.input).toString('utf8') }
    this.calls.push(call)
    const outcome = this.#script(call)
    await sleep(this.#clock, LATENCY_MS)
    if (outcome === undefined) {
      output.stderr(Buffer.from(`${asked.command[0]}: not found\n`))
      return 127
    }
    if (outcome.stdout !== undefined) output.stdout(Buffer.from(outcome.stdout))
    if (outcome.stderr !== undefined) output.stderr(Buffer.from(outcome.stderr))
    if (outcome.lastsMs !== undefined) await sleep(this.#clock, outcome.lastsMs)
    return outcome.exitCode ?? 0
  }
}
