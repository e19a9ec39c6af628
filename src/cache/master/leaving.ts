/**
 * Leads a worker out: asks it to hand over its blocks, and remembers how far it is; asked again it goes on. Takes one back that is
 * to stay after all: the worker stops first, then blocks are its own again.
 */
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import { HttpError } from '../http/errors.ts'
import { readHandover } from './beat.ts'
import { type Amounts, beginLeaving, type Members, progressed, takenBack } from './members.ts'

export interface LeaveProgress extends Amounts {
  state: 'leaving' | 'gone'
}

export interface LeavingOptions {
  members(): Members
  become(next: Members): void
  /** `POST /v1/leave` of a worker; resolves to its answer. */
  askToLeave(address: string, signal: AbortSignal): Promise<unknown>
  log: Log
}

interface Asked {
  name: string
  /** It was asked before: a worker that serves was taken back meanwhile. */
  isAgain: boolean
}

export async function leadOut(
  { name, isAgain }: Asked,
  { members, become, askToLeave, log }: LeavingOptions,
  signal: AbortSignal,
): Promise<LeaveProgress> {
  const member = members().byName.get(name)
  if (member === undefined) throw unknown(name)
  if (isAgain && member.state === 'serving') throw new HttpError(409, 'Stays', `worker ${name} was taken back: it stays`)
  become(beginLeaving(members(), name))
  // A heartbeat may have said that it is through before the last amounts were told.
  if (member.state !== 'gone' || (member.handover?.left ?? 1) > 0) {
    try {
      const handover = readHandover(await askToLeave(member.address, signal))
      if (handover !== undefined) become(progressed(members(), name, handover))
    } catch (error) {
      // Asked again it goes on; silence ends it.
      log.write('warn', 'a worker does not answer to leaving', { worker: name, error: messageOf(error) })
    }
  }
  const now = members().byName.get(name)
  const { moved = 0, dropped = 0, left = 0 } = now?.handover ?? {}
  return { state: now === undefined || now.state === 'gone' ? 'gone' : 'leaving', moved, dropped, left }
}

export interface TakingBackOptions {
  members(): Members
  become(next: Members): void
  /** `POST /v1/stay` of a worker. */
  askToStay(address: string, signal: AbortSignal): Promise<unknown>
  nowMs(): number
}

/** Fails when the worker does not answer: then it is asked again. */
export async function takeBack(
  name: string,
  { members, become, askToStay, nowMs }: TakingBackOptions,
  signal: AbortSignal,
): Promise<{ state: 'serving' }> {
  const member = members().byName.get(name)
  if (member === undefined) throw unknown(name)
  if (member.state !== 'serving') {
    try {
      await askToStay(member.address, signal)
    } catch (error) {
      throw new HttpError(503, 'NoAnswer', `worker ${name} does not answer, ask again: ${messageOf(error)}`)
    }
    become(takenBack(members(), name, nowMs()))
  }
  return { state: 'serving' }
}

const unknown = (name: string): HttpError =>
  new HttpError(404, 'NoSuchWorker', `there is no worker ${name}, or it has not been heard of for a while`)
