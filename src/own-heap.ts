/**
 * Long-running commands run in their own thread, because only there can a program choose its heap size: Node gives the main
 * thread some 4 GiB at most, whatever the machine has, and a young generation so small that under load much short-lived
 * garbage is promoted to the old one.
 *
 * The main thread keeps what only it can do: signals, the exit code, and reporting that the memory is used up. Node's own
 * flags (--max-old-space-size) win over what is chosen here.
 */
import os from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** Share of the machine's memory; the rest is for buffers outside the heap, for pods and for other programs. */
const SHARE_OF_MACHINE = 0.75
/** Three semi-spaces of 64 MiB, allocated only as they are used. */
const YOUNG_MIB = 192
const SIGNALS = ['SIGINT', 'SIGTERM'] as const

interface Given {
  isTerminal: boolean
}

/** Whether standard error is a terminal: a thread's own streams do not know. */
export const isErrorTerminal = (): boolean => (isMainThread ? process.stderr.isTTY === true : (workerData as Given).isTerminal)

interface Output {
  to: 'out' | 'err'
  text: string
}

/** Keeps the order across both outputs: a thread's own streams are not synchronised with each other. */
export function say(to: Output['to'], text: string): void {
  if (isMainThread) (to === 'out' ? process.stdout : process.stderr).write(text)
  else parentPort?.postMessage({ to, text } satisfies Output)
}

/** Resolves with the name of the next signal; in a thread, also of one that came before the call. */
export function nextSignal(): Promise<string> {
  if (!isMainThread) return passedOn.next()
  return new Promise((resolve) => {
    for (const name of SIGNALS) process.once(name, () => resolve(name))
  })
}

const passedOn = (() => {
  const unheard: string[] = []
  let wake: ((name: string) => void) | undefined
  parentPort?.on('message', (name: string) => {
    if (wake === undefined) unheard.push(name)
    else wake(name)
    wake = undefined
  })
  return {
    next: () =>
      new Promise<string>((resolve) => {
        const name = unheard.shift()
        if (name === undefined) wake = resolve
        else resolve(name)
      }),
  }
})()

/** Runs `file` with these arguments to its end, and resolves with its exit code. */
export function runInOwnHeap(file: string, argv: string[]): Promise<number> {
  const given: Given = { isTerminal: isErrorTerminal() }
  const maxOldGenerationSizeMb = Math.floor(mostBytes() / 2 ** 20)
  const worker = new Worker(file, {
    argv,
    workerData: given,
    resourceLimits: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: YOUNG_MIB },
  })
  worker.on('message', ({ to, text }: Output) => say(to, text))
  let signals = 0
  for (const name of SIGNALS)
    process.on(name, () => {
      // A third signal means immediately, whatever it is doing.
      if (++signals > 2) process.exit(128 + os.constants.signals[name])
      worker.postMessage(name)
    })
  return new Promise((resolve) => {
    worker.once('error', (error) => {
      process.stderr.write(`sluice: ${messageOf(error)}\n`)
      resolve(1)
    })
    worker.once('exit', resolve)
  })
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (!('code' in error) || error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return error.stack ?? error.message
  return 'the memory is used up. What was acknowledged is kept; start again with less to hold, on a larger machine, or with more memory: NODE_OPTIONS=--max-old-space-size=MIB before the command'
}

/** The memory of the machine, or of our control group, where that is less. */
export function memoryBytes(): number {
  const constrained = process.constrainedMemory?.() ?? 0
  return constrained > 0 ? Math.min(constrained, os.totalmem()) : os.totalmem()
}

/** What this machine can provide for the heap. */
const mostBytes = (): number => memoryBytes() * SHARE_OF_MACHINE

/** Of the calling thread. */
export function memoryUse(): { usedBytes: number; limitBytes: number; mostBytes: number } {
  const { used_heap_size: usedBytes, heap_size_limit: limitBytes } = getHeapStatistics()
  return { usedBytes, limitBytes, mostBytes: mostBytes() }
}
