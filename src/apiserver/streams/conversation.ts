/**
 * A command or a terminal, and the client at its other end: passes input and output on at the pace of the slower side, and
 * reports the result at the end in the form kubectl understands. Ends exactly once, whichever side ends it.
 */

import { messageOf } from '../../base/error-text.ts'
import type { Conversation, ConversationPeer } from '../../kube/http.ts'
import type { StreamOutput, StreamSession } from '../../kube/node-connections.ts'
import { failure, type Status, StatusError } from '../../kube/status.ts'

export interface Opening {
  /** Starts what the client requested; a StatusError is sent to the client unchanged. */
  open(output: StreamOutput): Promise<StreamSession>
  /** The meaning of a non-zero exit code. */
  statusOf(exitCode: number): Status
  /** Called once, when it is over. */
  onEnd(): void
}

const SUCCESS: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' }

export const success = (): Status => SUCCESS

/** As a container runtime's streaming server reports the end of a command. */
export function commandStatus(command: readonly string[]): (exitCode: number) => Status {
  return (exitCode) => {
    if (exitCode === 0) return SUCCESS
    const what = `error executing command [${command.join(' ')}], exit code ${exitCode}`
    return {
      ...SUCCESS,
      status: 'Failure',
      message: `command terminated with non-zero exit code: ${what}`,
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
    }
  }
}

export function startConversation(peer: ConversationPeer, opening: Opening): Conversation {
  let session: StreamSession | undefined
  let isOver = false
  let isBehind = false
  /** Calls made before the session existed. */
  const early: ((session: StreamSession) => void)[] = []
  const withSession = (act: (session: StreamSession) => void): void => {
    if (session !== undefined) act(session)
    else if (!isOver) early.push(act)
  }
  const finish = (status: Status | undefined): void => {
    if (isOver) return
    isOver = true
    if (status !== undefined) peer.end(status)
    opening.onEnd()
  }
  const passed = (isTaken: boolean): void => {
    if (isTaken || isBehind || isOver) return
    isBehind = true
    withSession((open) => open.pause())
    peer.onDrain(() => {
      isBehind = false
      withSession((open) => open.resume())
    })
  }
  const output: StreamOutput = {
    stdout: (chunk) => {
      if (!isOver) passed(peer.stdout(chunk))
    },
    stderr: (chunk) => {
      if (!isOver) passed(peer.stderr(chunk))
    },
  }
  opening.open(output).then(
    (opened) => {
      session = opened
      if (isOver) opened.kill()
      for (const act of early.splice(0)) act(opened)
      opened.exited.then(
        (code) => finish(opening.statusOf(code)),
        (error: unknown) => finish(failureOf(error)),
      )
    },
    (error: unknown) => finish(failureOf(error)),
  )
  return {
    input: (chunk) =>
      new Promise((resolve) => {
        if (isOver) return resolve()
        withSession((open) => void open.write(chunk).then(resolve, () => resolve()))
      }),
    endInput: () => withSession((open) => open.endInput()),
    resize: (columns, rows) => withSession((open) => open.resize(columns, rows)),
    leave() {
      withSession((open) => open.kill())
      finish(undefined)
    },
  }
}

function failureOf(error: unknown): Status {
  if (error instanceof StatusError) return error.status
  const what = messageOf(error)
  return failure(500, 'InternalError', `Internal error occurred: error executing command in container: ${what}`, {
    causes: [{ message: `error executing command in container: ${what}` }],
  }).status
}
