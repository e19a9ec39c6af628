/** Sends generated requests to one server and watches what they do to it. Runs in a thread of its own, because a request may block it. */

import { setTimeout as sleep } from 'node:timers/promises'
import v8 from 'node:v8'
import vm from 'node:vm'
import { choiceFor } from './choice.ts'
import { type Corpus, readCorpus } from './corpus.ts'
import { generate } from './generate.ts'
import { type Finding, internalFinding, judgeAnswer, kindOfMessage } from './oracle.ts'
import { sampleRequest } from './plain.ts'
import type { FuzzRequest, FuzzStep } from './request.ts'
import { type FuzzServer, startFuzzServer } from './server.ts'
import { smallerSteps } from './smaller.ts'

export interface RunTask {
  seed: number
  from: number
  to: number
  /** Where the thread reports its current step. */
  progress: Int32Array
}

export interface Slow {
  ms: number
  index: number
  what: string
}

export interface RunReport {
  requests: number
  statuses: Record<string, number>
  families: Record<string, number>
  /** Intended answers of 500 and above, by message. */
  fivehundreds: Record<string, number>
  slowest: Slow[]
  heapBefore: number
  heapAfter: number
}

export type Found = Finding & { index: number }

/** Requests between two resets; also how far back a failure may have its cause. */
const RESET_EVERY = 2000
/** Above this (the best of three), a request blocks the others for too long. */
const SLOW_MS = 1500
const KEPT_SLOW = 10
const PROTOTYPES = [Object.prototype, Array.prototype, String.prototype, Number.prototype, Function.prototype, Map.prototype] as object[]

export async function runFuzz(task: RunTask, onFound: (found: Found) => void): Promise<RunReport> {
  const corpus = readCorpus()
  const server = await startFuzzServer({ tls: true })
  const clean = prototypeKeys()
  const report: RunReport = { requests: 0, statuses: {}, families: {}, fivehundreds: {}, slowest: [], heapBefore: 0, heapAfter: 0 }
  let index = task.from
  process.on('unhandledRejection', (error) => onFound({ ...internalFinding(error), kind: 'crash', index }))
  process.on('uncaughtException', (error) => onFound({ ...internalFinding(error), kind: 'crash', index }))
  for (; index < task.to; index++) {
    Atomics.store(task.progress, 0, index)
    if (index % RESET_EVERY === 0 && index > task.from) {
      await server.reset()
      // The first half fills caches that stay: memory is measured from there.
      if (report.heapBefore === 0 && index * 2 > task.from + task.to) report.heapBefore = await settledHeap()
    }
    if (index % RESET_EVERY === 0 || index === task.from) await furnish(server, task.seed, index, corpus)
    const step = generate(task.seed, index, corpus)
    const outcome = await sendStep(server, step)
    report.requests += step.length
    for (const finding of outcome.findings) onFound({ ...finding, index })
    count(report, step, outcome)
    await watchTime(server, { step, index, report, ms: outcome.ms, onFound })
    if (prototypeKeys() !== clean) onFound({ kind: 'pollution', signature: 'a prototype was changed', detail: prototypeKeys(), index })
    // Timers and sockets get their turn.
    if (index % 50 === 0) await sleep(0)
  }
  await server.reset()
  report.heapAfter = await settledHeap()
  const alive = await server.send({ family: 'alive', method: 'GET', url: '/api/v1/namespaces/default', headers: {}, overTls: true })
  if (alive.status !== 200) onFound({ kind: 'crash', signature: 'the server no longer serves', detail: `HTTP ${alive.status}`, index })
  await server.stop()
  return report
}

/** Objects to update, patch and delete. */
async function furnish(server: FuzzServer, seed: number, index: number, corpus: Corpus): Promise<void> {
  for (const step of furniture(seed, index, corpus)) await sendStep(server, step)
}

const FURNITURE = 150

function furniture(seed: number, index: number, corpus: Corpus): FuzzStep[] {
  const choice = choiceFor(seed, -1 - (index - (index % RESET_EVERY)))
  return Array.from({ length: FURNITURE }, () => [sampleRequest(choice.of(corpus.creates), choice, 'furniture')])
}

interface StepOutcome {
  findings: Finding[]
  answers: { request: FuzzRequest; status: number; message: string }[]
  ms: number
}

export async function sendStep(server: FuzzServer, step: FuzzStep): Promise<StepOutcome> {
  const began = performance.now()
  const settled = await Promise.allSettled(step.map((request) => server.send(request)))
  const ms = performance.now() - began
  const findings: Finding[] = server.takeInternalErrors().map(internalFinding)
  const answers: StepOutcome['answers'] = []
  for (const [i, result] of settled.entries()) {
    const request = step[i] as FuzzRequest
    if (result.status === 'rejected') {
      findings.push({ ...internalFinding(result.reason), kind: 'crash' })
      continue
    }
    const finding = judgeAnswer(request, result.value)
    if (finding !== undefined) findings.push(finding)
    answers.push({ request, status: result.value.status, message: result.value.status >= 500 ? kindOfMessage(result.value.body) : '' })
  }
  return { findings, answers, ms }
}

function count(report: RunReport, step: FuzzStep, outcome: StepOutcome): void {
  for (const { family } of step) report.families[family] = (report.families[family] ?? 0) + 1
  for (const { status, message } of outcome.answers) {
    report.statuses[status] = (report.statuses[status] ?? 0) + 1
    if (status < 500) continue
    const key = `${status} ${message}`
    report.fivehundreds[key] = (report.fivehundreds[key] ?? 0) + 1
  }
}

interface Timed {
  step: FuzzStep
  index: number
  report: RunReport
  ms: number
  onFound(found: Found): void
}

/** The machine may be busy, so a slow request gets two more tries. */
async function watchTime(server: FuzzServer, { step, index, report, ms, onFound }: Timed): Promise<void> {
  let best = ms
  for (let attempt = 0; best > SLOW_MS && attempt < 2; attempt++) best = Math.min(best, (await sendStep(server, step)).ms)
  const what = `${step[0]?.family}: ${step[0]?.method} ${step[0]?.url.slice(0, 120)}`
  if (best > SLOW_MS)
    onFound({ kind: 'slow', signature: `slow: ${step[0]?.family} ${step[0]?.method}`, detail: `${Math.round(best)} ms: ${what}`, index })
  report.slowest = [...report.slowest, { ms: best, index, what }].sort((a, b) => b.ms - a.ms).slice(0, KEPT_SLOW)
}

const prototypeKeys = (): string => PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype).map(String).join(' ')).join('\n')

async function settledHeap(): Promise<number> {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as () => void
  for (let i = 0; i < 3; i++) {
    await sleep(50)
    collect()
  }
  return v8.getHeapStatistics().used_heap_size
}

export interface Reproduction {
  seed: number
  found: Found
}

const SHRINK_MS = 20_000

/** The smallest steps that still show the fault: first which ones, then how little of the last one. */
export async function shrink({ seed, found }: Reproduction): Promise<FuzzStep[]> {
  const corpus = readCorpus()
  const server = await startFuzzServer({ tls: true })
  const deadline = performance.now() + SHRINK_MS
  const shows = async (steps: readonly FuzzStep[]): Promise<boolean> => {
    await server.reset()
    server.takeInternalErrors()
    const findings: Finding[] = []
    for (const step of steps) findings.push(...(await sendStep(server, step)).findings)
    return findings.some((finding) => finding.signature === found.signature)
  }
  try {
    const steps = await fewestSteps(stepsUpTo(seed, found.index, corpus), shows, deadline)
    return smallestLast(steps, shows, deadline)
  } finally {
    await server.stop()
  }
}

function stepsUpTo(seed: number, index: number, corpus: Corpus): FuzzStep[] {
  const first = index - (index % RESET_EVERY)
  return [...furniture(seed, index, corpus), ...Array.from({ length: index - first + 1 }, (_, i) => generate(seed, first + i, corpus))]
}

type Shows = (steps: readonly FuzzStep[]) => Promise<boolean>

async function fewestSteps(all: FuzzStep[], shows: Shows, deadline: number): Promise<FuzzStep[]> {
  let steps = all
  for (let size = 1; size < all.length; size *= 4) {
    const last = all.slice(-size)
    if (!(await shows(last))) continue
    steps = last
    break
  }
  for (let chunk = Math.ceil(steps.length / 2); chunk >= 1 && performance.now() < deadline; chunk = Math.floor(chunk / 2))
    for (let at = 0; at + chunk < steps.length && performance.now() < deadline; ) {
      const fewer = [...steps.slice(0, at), ...steps.slice(at + chunk)]
      if (await shows(fewer)) steps = fewer
      else at += chunk
    }
  return steps
}

async function smallestLast(steps: FuzzStep[], shows: Shows, deadline: number): Promise<FuzzStep[]> {
  let best = steps
  for (let isBetter = true; isBetter && performance.now() < deadline; ) {
    isBetter = false
    for (const candidate of smallerSteps(best)) {
      if (performance.now() > deadline) break
      if (!(await shows(candidate))) continue
      best = candidate
      isBetter = true
      break
    }
  }
  return best
}
