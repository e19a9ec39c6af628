/** The API of the member while Sluice comes and goes: whoever asks waits until somebody answers. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readTargets } from '../../crash/server.ts'
import { Wire, WireError, type WireRequest, type WireTarget } from '../../machine/wire.ts'

export interface Answer {
  status: number
  text: string
}

interface Named {
  metadata: { name: string; uid: string; namespace?: string }
}

const MEMBER = 'member1'
const AGAIN_MS = 100
/** Nobody answers for this long: something is wrong with the proof, or with Sluice. */
const PATIENCE_MS = 180_000
const BUSY = new Set([408, 429, 500, 502, 503, 504])

export class MemberApi {
  readonly #dataDir: string
  /** Until somebody does not answer: the next Sluice may listen elsewhere. */
  #target: WireTarget | undefined

  constructor(dataDir: string) {
    this.#dataDir = dataDir
  }

  /** A read that is tried until it is answered. Undefined: there is no such object. */
  async get<T>(path: string): Promise<T | undefined> {
    const { status, text } = await this.#answered({ method: 'GET', path })
    if (status === 404) return undefined
    return JSON.parse(must(status, text, path)) as T
  }

  async list<T = Named>(path: string): Promise<T[]> {
    const { status, text } = await this.#answered({ method: 'GET', path })
    return (JSON.parse(must(status, text, path)) as { items: T[] }).items
  }

  /** The text as it is. */
  async text(path: string): Promise<string> {
    const { status, text } = await this.#answered({ method: 'GET', path })
    return must(status, text, path)
  }

  /** There is one afterwards, whether an attempt before was lost or not. */
  async create(path: string, object: object): Promise<void> {
    const { status, text } = await this.#answered({ method: 'POST', path, body: JSON.stringify(object) })
    if (status !== 409) must(status, text, path)
  }

  /** With everything that belongs to it. */
  async delete(path: string, graceSeconds?: number): Promise<void> {
    const body = JSON.stringify({
      propagationPolicy: 'Background',
      ...(graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds }),
    })
    const { status, text } = await this.#answered({ method: 'DELETE', path, body })
    if (status !== 404) must(status, text, path)
  }

  async #answered(request: WireRequest): Promise<Answer> {
    let last = 'nobody answered'
    for (const untilMs = performance.now() + PATIENCE_MS; performance.now() < untilMs; await sleep(AGAIN_MS)) {
      const answer = await this.#once(request)
      if (answer !== undefined && !BUSY.has(answer.status)) return answer
      if (answer !== undefined) last = `${answer.status} ${answer.text.slice(0, 300)}`
    }
    throw new Error(`${request.method} ${request.path} for ${PATIENCE_MS / 1000} s: ${last}`)
  }

  /** Undefined: Sluice is down, or died before it had answered. */
  async #once(request: WireRequest): Promise<Answer | undefined> {
    this.#target ??= readTargets(this.#dataDir)[MEMBER]
    if (this.#target === undefined) throw new Error(`the kubeconfig has no ${MEMBER}`)
    const wire = new Wire(this.#target)
    try {
      const { status, body } = await wire.request(request)
      return { status, text: body.toString() }
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      this.#target = undefined
      return undefined
    } finally {
      wire.close()
    }
  }
}

function must(status: number, text: string, path: string): string {
  if (status < 200 || status > 299) throw new Error(`${path}: ${status} ${text.slice(0, 500)}`)
  return text
}
