/** Checks a container once, by command, HTTP or TCP: for probes and hooks. Everything has a timeout, by the given clock. */

import type { Clock } from '../../../base/clock.ts'
import { messageOf } from '../../../base/error-text.ts'
import type { Container, ExecAction, HTTPGetAction, Probe, TCPSocketAction } from '../../../kinds/kubernetes/types.ts'
import type { ContainerMachine, RunId } from '../container-machine.ts'

export interface Asking {
  machine: ContainerMachine
  clock: Clock
  run: RunId
  container: Container
  podIP: string
  timeoutMs: number
}

/** `error`: the check could not be made, which says nothing about the container. */
export type Answer = { ok: boolean; output: string } | { error: string }

const MAX_OUTPUT = 10 * 1024

export async function checkProbe(probe: Probe, asking: Asking): Promise<Answer> {
  try {
    if (probe.exec !== undefined) return await askCommand(probe.exec, asking)
    if (probe.httpGet !== undefined) return await askHttp(probe.httpGet, asking)
    if (probe.tcpSocket !== undefined) return await askTcp(probe.tcpSocket, asking)
    if (probe.grpc !== undefined)
      return { ok: false, output: 'gRPC probes are not supported on process nodes: use exec, httpGet or tcpSocket' }
    return { error: `missing probe handler for ${asking.container.name ?? ''}` }
  } catch (error) {
    return { error: messageOf(error) }
  }
}

export async function askCommand({ command = [] }: ExecAction, asking: Asking): Promise<Answer> {
  const chunks: Uint8Array[] = []
  let length = 0
  const take = (chunk: Uint8Array): void => {
    if (length < MAX_OUTPUT) chunks.push(chunk.subarray(0, MAX_OUTPUT - length))
    length += chunk.length
  }
  const session = await asking.machine.exec(asking.run, { command, tty: false, stdout: take, stderr: take })
  session.endInput()
  const exitCode = await within(asking, session.exited)
  const output = Buffer.concat(chunks).toString()
  if (exitCode === undefined) {
    session.kill()
    return { ok: false, output: `command timed out: "${command.join(' ')}" timed out after ${asking.timeoutMs / 1000}s` }
  }
  return { ok: exitCode === 0, output }
}

export async function askHttp(action: HTTPGetAction, asking: Asking): Promise<Answer> {
  const port = portOf(action.port, asking.container)
  if (port === undefined) return { error: `couldn't find port: ${action.port ?? ''} for container: ${asking.container.name ?? ''}` }
  const host = action.host === undefined || action.host === '' ? asking.podIP : action.host
  const path = action.path === undefined || action.path === '' ? '/' : action.path
  const scheme = action.scheme?.toUpperCase() === 'HTTPS' ? 'HTTPS' : 'HTTP'
  const headers = (action.httpHeaders ?? []).map(({ name = '', value = '' }): readonly [string, string] => [name, value])
  const url = `${scheme.toLowerCase()}://${host}:${port}${path.startsWith('/') ? path : `/${path}`}`
  const request = {
    host,
    port,
    path: path.startsWith('/') ? path : `/${path}`,
    scheme,
    headers: withAgent(headers),
    timeoutMs: asking.timeoutMs,
  } as const
  try {
    const code = await within(asking, asking.machine.httpGet(request))
    if (code === undefined)
      return { ok: false, output: `Get "${url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)` }
    return code >= 200 && code < 400 ? { ok: true, output: '' } : { ok: false, output: `HTTP probe failed with statuscode: ${code}` }
  } catch (error) {
    const message = messageOf(error)
    return { ok: false, output: message.startsWith('Get "') ? message : `Get "${url}": ${message}` }
  }
}

function withAgent(headers: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  const has = (name: string): boolean => headers.some(([key]) => key.toLowerCase() === name)
  return [
    ...(has('user-agent') ? [] : [['User-Agent', 'kube-probe/1.36'] as const]),
    ...(has('accept') ? [] : [['Accept', '*/*'] as const]),
    ...headers,
  ]
}

async function askTcp(action: TCPSocketAction, asking: Asking): Promise<Answer> {
  const port = portOf(action.port, asking.container)
  if (port === undefined) return { error: `couldn't find port: ${action.port ?? ''} for container: ${asking.container.name ?? ''}` }
  const host = action.host === undefined || action.host === '' ? asking.podIP : action.host
  try {
    const isOver = await within(
      asking,
      asking.machine.dial(host, port, asking.timeoutMs).then(() => true),
    )
    return isOver === true ? { ok: true, output: '' } : { ok: false, output: `dial tcp ${host}:${port}: i/o timeout` }
  } catch (error) {
    return { ok: false, output: `dial tcp ${host}:${port}: ${messageOf(error)}` }
  }
}

/** Undefined when it takes too long. */
function within<T>({ clock, timeoutMs }: Pick<Asking, 'clock' | 'timeoutMs'>, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(timeoutMs, () => resolve(undefined))
    work.then(resolve, reject).finally(cancel)
  })
}

/** A number, or the name of one of the container's ports. */
function portOf(port: string | number | undefined, container: Container): number | undefined {
  const number = typeof port === 'number' ? port : /^\d+$/.test(port ?? '') ? Number(port) : undefined
  const resolved = number ?? (container.ports ?? []).find(({ name }) => name === port && port !== undefined)?.containerPort
  return resolved !== undefined && resolved > 0 && resolved < 65_536 ? resolved : undefined
}
