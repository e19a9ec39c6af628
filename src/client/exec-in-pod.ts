/**
 * Runs one command in a pod to its end, bounded in time and in output: what a controller's effect does with `pods/exec`.
 * A command that takes too long, or whose caller gives up, is left, and the node ends it; output beyond the bound is read
 * and dropped, so that the exit code is still known.
 */
import { StringDecoder } from 'node:string_decoder'
import type { Clock } from '../base/clock.ts'
import type { Client } from './client.ts'

export interface PodCommand {
  namespace: string
  pod: string
  /** Default: the pod's only container. */
  container?: string
  command: readonly string[]
}

export interface ExecBounds {
  clock: Clock
  timeoutMs: number
  /** Of standard output and of standard error, each; what comes after it is dropped. */
  maxBytes: number
  signal?: AbortSignal
  /** What it writes to standard output, as it comes and without a bound: for a command whose last words count. */
  onStdout?(text: string): void
}

export interface ExecOutput {
  stdout: string
  stderr: string
  /** A command that ran and failed is a result like any other; the promise rejects only when it could not be run to its end. */
  exitCode: number
  /** Something was dropped. */
  isTruncated: boolean
}

export async function execInPod(client: Pick<Client, 'exec'>, of: PodCommand, bounds: ExecBounds): Promise<ExecOutput> {
  const { clock, timeoutMs, signal } = bounds
  const end = new AbortController()
  const giveUp = (): void => end.abort(signal?.reason ?? new Error('the command is no longer wanted'))
  if (signal?.aborted === true) giveUp()
  signal?.addEventListener('abort', giveUp, { once: true })
  const cancel = clock.after(timeoutMs, () => end.abort(new Error(`${described(of)} took longer than ${timeoutMs} ms`)))
  const ended = new Promise<never>((_, reject) => {
    const stop = (): void => reject(end.signal.reason as Error)
    if (end.signal.aborted) stop()
    else end.signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([ended, run(client, of, { ...bounds, signal: end.signal })])
  } finally {
    cancel()
    signal?.removeEventListener('abort', giveUp)
  }
}

async function run(client: Pick<Client, 'exec'>, of: PodCommand, { maxBytes, signal, onStdout }: ExecBounds): Promise<ExecOutput> {
  signal?.throwIfAborted()
  const session = await client.exec({ namespace: of.namespace, name: of.pod }, { command: of.command, container: of.container, signal })
  const outputs = [beginningOf(session.stdout, maxBytes, onStdout), beginningOf(session.stderr, maxBytes)]
  // Read first: a command that writes much waits for its reader.
  const [stdout = NOTHING, stderr = NOTHING] = await Promise.all(outputs)
  const { exitCode } = await session.result
  return { stdout: stdout.text, stderr: stderr.text, exitCode, isTruncated: stdout.isTruncated || stderr.isTruncated }
}

const NOTHING = { text: '', isTruncated: false }

async function beginningOf(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
  onText?: (text: string) => void,
): Promise<{ text: string; isTruncated: boolean }> {
  const decoder = new StringDecoder('utf8')
  const kept: Uint8Array[] = []
  let left = maxBytes
  let isTruncated = false
  for await (const chunk of stream) {
    onText?.(decoder.write(Buffer.from(chunk)))
    isTruncated ||= chunk.length > left
    if (left > 0) kept.push(chunk.subarray(0, left))
    left = Math.max(0, left - chunk.length)
  }
  const bytes = Buffer.concat(kept)
  // A character that was cut in two is left out.
  return { text: isTruncated ? new StringDecoder('utf8').write(bytes) : bytes.toString('utf8'), isTruncated }
}

const described = ({ namespace, pod, command }: PodCommand): string =>
  `the command ${JSON.stringify(command[0] ?? '')} in pod ${namespace}/${pod}`
