/**
 * The proof that no request can break the server: `npm run fuzz:api -- --requests 100000 [--seed S]`, and `--replay FILE`
 * for the requests that an earlier run recorded. The requests run in a thread; this one watches it, ends it when it hangs,
 * and reports what was found: each fault once, as small as possible, ready to be sent again. A share of the requests goes to
 * datasets and their controllers; `--datasets 50000` sends that many, and nothing else.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { table } from '../machine/table.ts'
import { readCorpus } from './corpus.ts'
import { BATCH, type DataReport, type DataTask, runDataFuzz } from './datasets/run.ts'
import { generate } from './generate.ts'
import { asCurl, bodyOf, type FuzzStep } from './request.ts'
import { type Found, type RunReport, type RunTask, runFuzz, sendStep, shrink } from './run.ts'
import { startFuzzServer } from './server.ts'

const HANG_MS = 30_000
/** Controllers that come to rest make no progress of requests. */
const REST_HANG_MS = 300_000
/** Caches that are filled by use may stay; nothing may grow with the number of requests. */
const HEAP_BOUND = 24 * 1024 * 1024
const MAX_DISTINCT = 40

/** Of the requests of an ordinary run. */
const DATASET_SHARE = 0.06

type Task = ({ what: 'run' } & RunTask) | ({ what: 'datasets' } & DataTask) | { what: 'shrink'; seed: number; found: Found }
type Message =
  | { what: 'found'; found: Found }
  | { what: 'report'; report: RunReport }
  | { what: 'datasets'; report: DataReport }
  | { what: 'shrunk'; steps: FuzzStep[] }

async function work(task: Task): Promise<void> {
  const post = (message: Message): void => parentPort?.postMessage(message)
  const onFound = (found: Found): void => post({ what: 'found', found })
  if (task.what === 'run') post({ what: 'report', report: await runFuzz(task, onFound) })
  else if (task.what === 'datasets') await runDataFuzz(task, { onFound, onReport: (report) => post({ what: 'datasets', report }) })
  else post({ what: 'shrunk', steps: await shrink(task) })
  process.exit(0)
}

function startWorker(
  task: Task,
  onMessage: (message: Message) => void,
): { ended: Promise<string | undefined>; terminate(): Promise<unknown> } {
  const worker = new Worker(fileURLToPath(import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: 3000, stackSizeMb: 1 },
  })
  worker.on('message', onMessage)
  const ended = new Promise<string | undefined>((resolve) => {
    worker.on('error', (error) => resolve(error.stack ?? error.message))
    worker.on('exit', (code) => resolve(code === 0 ? undefined : `the thread ended with ${code}`))
  })
  return { ended, terminate: () => worker.terminate() }
}

interface Outcome {
  reports: RunReport[]
  found: Map<string, Found & { times: number }>
}

async function runAll(seed: number, requests: number): Promise<Outcome> {
  const outcome: Outcome = { reports: [], found: new Map() }
  const progress = new Int32Array(new SharedArrayBuffer(4))
  const note = (found: Found): void => {
    const known = outcome.found.get(found.signature)
    outcome.found.set(found.signature, known === undefined ? { ...found, times: 1 } : { ...known, times: known.times + 1 })
  }
  for (let from = 0; from < requests; ) {
    const thread = startWorker({ what: 'run', seed, from, to: requests, progress }, (message) => {
      if (message.what === 'found') note(message.found)
      if (message.what === 'report') outcome.reports.push(message.report)
    })
    const stuck = watch(progress, requests)
    const why = await Promise.race([thread.ended.then((error) => ({ error })), stuck.hangs.then((at) => ({ at }))])
    stuck.stop()
    if ('at' in why) {
      await thread.terminate()
      note({
        kind: 'hang',
        signature: `hang: ${generate(seed, why.at, readCorpus())[0]?.family}`,
        detail: `no progress in ${HANG_MS / 1000} s`,
        index: why.at,
      })
      from = why.at + 1
    } else if (why.error !== undefined) {
      const at = Atomics.load(progress, 0)
      note({ kind: 'crash', signature: `the thread died: ${why.error.split('\n')[0]}`, detail: why.error.slice(0, 1000), index: at })
      from = at + 1
    } else from = requests
  }
  return outcome
}

function watch(progress: Int32Array, total: number, hangMs = HANG_MS): { hangs: Promise<number>; stop(): void } {
  let last = -1
  let sinceMs = performance.now()
  let timer: NodeJS.Timeout | undefined
  const hangs = new Promise<number>((resolve) => {
    timer = setInterval(() => {
      const at = Atomics.load(progress, 0)
      if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${at} of ${total}`)
      if (at !== last) {
        last = at
        sinceMs = performance.now()
      } else if (performance.now() - sinceMs > hangMs && at < total - 1) resolve(at)
    }, 500)
  })
  return { hangs, stop: () => clearInterval(timer) }
}

async function shrunk(seed: number, found: Found): Promise<FuzzStep[]> {
  const fallback = [generate(seed, found.index, readCorpus())]
  if (found.kind === 'hang' || found.kind === 'slow' || found.kind === 'pollution') return fallback
  let steps: FuzzStep[] | undefined
  const thread = startWorker({ what: 'shrink', seed, found }, (message) => {
    if (message.what === 'shrunk') steps = message.steps
  })
  const timer = setTimeout(() => void thread.terminate(), 60_000)
  await thread.ended
  clearTimeout(timer)
  return steps ?? fallback
}

function sum<T>(reports: readonly T[], of: (report: T) => Record<string, number>): [string, number][] {
  const total = new Map<string, number>()
  for (const report of reports) for (const [key, count] of Object.entries(of(report))) total.set(key, (total.get(key) ?? 0) + count)
  return [...total].sort((a, b) => b[1] - a[1])
}

/** In a world of their own, with all controllers: what is found there is repeated from the start of its batch. */
async function fuzzDatasets(seed: number, from: number, to: number): Promise<number> {
  const began = performance.now()
  const progress = new Int32Array(new SharedArrayBuffer(4))
  const found = new Map<string, Found & { times: number }>()
  const note = (one: Found): void => void found.set(one.signature, { ...one, times: (found.get(one.signature)?.times ?? 0) + 1 })
  const reports: DataReport[] = []
  for (let next = from; next < to; ) {
    Atomics.store(progress, 0, next)
    const thread = startWorker({ what: 'datasets', seed, from: next, to, progress }, (message) => {
      if (message.what === 'found') note(message.found)
      if (message.what === 'datasets') reports.push(message.report)
    })
    const stuck = watch(progress, Number.MAX_SAFE_INTEGER, REST_HANG_MS)
    const why = await Promise.race([thread.ended.then((error) => ({ error })), stuck.hangs.then((at) => ({ at }))])
    stuck.stop()
    if ('at' in why) await thread.terminate()
    const at = Atomics.load(progress, 0)
    if ('at' in why) note({ kind: 'hang', signature: 'hang among datasets', detail: `no progress in ${REST_HANG_MS / 1000} s`, index: at })
    else if (why.error !== undefined)
      note({ kind: 'crash', signature: `the thread died: ${why.error.split('\n')[0]}`, detail: why.error.slice(0, 2000), index: at })
    next = 'error' in why && why.error === undefined ? to : at - (at % BATCH) + BATCH
  }
  const shown = (of: (report: DataReport) => Record<string, number>): string =>
    sum(reports, of)
      .map(([name, count]) => `${name} × ${count}`)
      .join(', ')
  const sent = reports.reduce((total, report) => total + report.requests, 0)
  console.log(`\n${sent} requests about datasets, seed ${seed}, ${Math.round((performance.now() - began) / 1000)} s`)
  console.log(`by answer: ${shown((report) => report.statuses)}\nby family: ${shown((report) => report.families)}`)
  console.log(`stored: ${shown((report) => report.stored)}`)
  console.log(`most writes of controllers after ${BATCH} requests: ${Math.max(0, ...reports.map(({ mostWrites }) => mostWrites))}`)
  if (found.size === 0) {
    console.log('no crash, no hang, no unexplained refusal; controllers came to rest after every batch and left nothing behind')
    return 0
  }
  console.error(`\n${found.size} faults:`)
  for (const { kind, times, index, signature, detail } of [...found.values()].slice(0, MAX_DISTINCT))
    console.error(
      `\n${kind} (${times} times, last at ${index}): ${signature}\n${detail}\n  again with: npm run fuzz:api -- --seed ${seed} --from ${index - (index % BATCH)} --datasets ${BATCH}`,
    )
  return 1
}

async function fuzz(seed: number, requests: number): Promise<number> {
  const began = performance.now()
  const { reports, found } = await runAll(seed, requests)
  for (const { heapBefore, heapAfter } of reports)
    if (heapBefore > 0 && heapAfter - heapBefore > HEAP_BOUND)
      found.set('memory', {
        kind: 'memory',
        signature: 'memory',
        detail: `${mib(heapBefore)} at half time, ${mib(heapAfter)} at the end`,
        index: -1,
        times: 1,
      })
  const sent = reports.reduce((total, report) => total + report.requests, 0)
  console.log(`\n${sent} requests, seed ${seed}, ${Math.round((performance.now() - began) / 1000)} s`)
  console.log(
    `by answer: ${sum(reports, (r) => r.statuses)
      .map(([status, count]) => `${status} × ${count}`)
      .join(', ')}`,
  )
  console.log(
    `by family: ${sum(reports, (r) => r.families)
      .map(([family, count]) => `${family} × ${count}`)
      .join(', ')}`,
  )
  console.log(
    `memory (heap after collection): ${reports.map((r) => `${mib(r.heapBefore)} at half time, ${mib(r.heapAfter)} at the end`).join('; ')}`,
  )
  console.log(
    `\nanswers of 500 and above that are meant:\n${table(
      ['times', 'answer'],
      sum(reports, (r) => r.fivehundreds).map(([text, count]) => [count, text]),
    )}`,
  )
  console.log(
    `\nslowest:\n${table(
      ['ms', 'step', 'request'],
      reports
        .flatMap((r) => r.slowest)
        .sort((a, b) => b.ms - a.ms)
        .slice(0, 10)
        .map((s) => [Math.round(s.ms), s.index, s.what]),
    )}`,
  )
  if (found.size === 0) {
    console.log('\nno crash, no hang, no unexpected error, no broken Status, no pollution')
    return 0
  }
  await reportFound(seed, [...found.values()])
  return 1
}

async function reportFound(seed: number, found: readonly (Found & { times: number })[]): Promise<void> {
  const folder = path.join('dist', 'fuzz')
  mkdirSync(folder, { recursive: true })
  console.error(`\n${found.length} faults:`)
  for (const [i, one] of found.slice(0, MAX_DISTINCT).entries()) {
    console.error(`\n${i + 1}. ${one.kind} (${one.times} times, first at ${one.index}): ${one.signature}\n${one.detail}`)
    if (one.index < 0) continue
    const steps = await shrunk(seed, one)
    const file = path.join(folder, `seed-${seed}-${one.index}.json`)
    writeFileSync(file, `${JSON.stringify(steps, null, 2)}\n`)
    for (const request of steps.flat().slice(-3)) console.error(`  ${asCurl(request).slice(0, 1500)}`)
    console.error(`  again with: npm run fuzz:api -- --replay ${file}`)
  }
}

const mib = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`

async function replay(file: string): Promise<number> {
  const steps = JSON.parse(readFileSync(file, 'utf8')) as FuzzStep[]
  const server = await startFuzzServer({ tls: true })
  let faults = 0
  for (const step of steps) {
    for (const request of step)
      console.log(`${request.method} ${request.url.slice(0, 300)} ${bodyOf(request)?.toString('utf8').slice(0, 500) ?? ''}`)
    const outcome = await sendStep(server, step)
    for (const { status } of outcome.answers) console.log(`→ ${status} (${Math.round(outcome.ms)} ms)`)
    for (const finding of outcome.findings) console.error(`${finding.kind}: ${finding.signature}\n${finding.detail}`)
    faults += outcome.findings.length
  }
  await server.stop()
  return faults === 0 ? 0 : 1
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string', default: '100000' },
      datasets: { type: 'string' },
      from: { type: 'string', default: '0' },
      seed: { type: 'string' },
      replay: { type: 'string' },
    },
  })
  if (values.replay !== undefined) return replay(values.replay)
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed)
  const from = Number(values.from)
  if (values.datasets !== undefined) return fuzzDatasets(seed, from, from + Number(values.datasets))
  const share = Math.round(Number(values.requests) * DATASET_SHARE)
  const failed = [await fuzz(seed, Number(values.requests) - share), await fuzzDatasets(seed, 0, share)]
  return Math.max(...failed)
}

if (isMainThread) process.exit(await main())
else await work(workerData as Task)
