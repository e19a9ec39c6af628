/** For tests: a node whose commands do what the test says, and that records what was requested of it. */
import type { LogRequest, NodeConnection, NodeConnections, PodContainer, StreamOutput, StreamRequest } from '../../kube/node-connections.ts'

export interface ScriptedSession {
  of: PodContainer
  request: StreamRequest & { command?: readonly string[] }
  output: StreamOutput
  exit(code: number): void
  fail(error: Error): void
  /** What was done to it, in order. */
  readonly received: string[]
  /** Accepts the pending writes. */
  take(): void
}

export interface ScriptedNode extends NodeConnections {
  readonly sessions: ScriptedSession[]
  readonly logRequests: LogRequest[]
  refusal: Error | undefined
}

/** `holdsInput`: written bytes wait for `take`. */
export function scriptedNode({ holdsInput = false } = {}): ScriptedNode {
  const node: ScriptedNode = {
    sessions: [],
    logRequests: [],
    refusal: undefined,
    find: (found) => (found.metadata.name === 'served' ? connection : undefined),
  }
  const open: NodeConnection['attach'] = async (of, request, output) => {
    if (node.refusal !== undefined) throw node.refusal
    const received: string[] = []
    const waiting: (() => void)[] = []
    let exit: (code: number) => void = () => undefined
    let fail: (error: Error) => void = () => undefined
    const exited = new Promise<number>((resolve, reject) => {
      exit = resolve
      fail = reject
    })
    node.sessions.push({ of, request, output, received, exit, fail, take: () => waiting.splice(0).forEach((resolve) => void resolve()) })
    return {
      exited,
      write: (chunk) => {
        received.push(`input ${chunk.length > 20 ? chunk.length : Buffer.from(chunk).toString('utf8')}`)
        return holdsInput ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve()
      },
      endInput: () => void received.push('end of input'),
      resize: (columns, rows) => void received.push(`size ${columns} ${rows}`),
      pause: () => void received.push('pause'),
      resume: () => void received.push('resume'),
      kill: () => void received.push('kill'),
    }
  }
  const connection: NodeConnection = {
    async logs(_of, request) {
      node.logRequests.push(request)
      return (sink) => {
        sink.write(Buffer.from('a log\n'))
        sink.end()
        return () => undefined
      }
    },
    exec: open,
    attach: open,
  }
  return node
}

const POD_SPEC = { containers: [{ name: 'c', image: 'i' }] }

/** The objects a test needs: a node that can be reached, one that cannot, and a pod on each. */
export const SCRIPTED_OBJECTS: readonly [string, object][] = [
  ...['served', 'unserved'].flatMap((name): [string, object][] => [
    ['/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } }],
    [
      '/api/v1/namespaces/default/pods',
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: `on-${name}` }, spec: { ...POD_SPEC, nodeName: name } },
    ],
  ]),
  ['/api/v1/namespaces/default/pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'unbound' }, spec: POD_SPEC }],
]
