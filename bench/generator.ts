/** The load generator as the measurement sees it: orders out, figures back. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Answers, Order } from './load.ts'

export interface Generator {
  order<O extends Order>(order: O): Promise<Answers[O['what']]>
  stop(): void
}

export const LOAD = 'load'

export function startGenerator(): Generator {
  const child = fork(fileURLToPath(import.meta.url), [LOAD], { execArgv: ['--enable-source-maps'] })
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>()
  let next = 0
  child.on('message', ({ id, result, error }: { id: number; result?: unknown; error?: string }) => {
    const one = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) one?.resolve(result as never)
    else one?.reject(new Error(error))
  })
  child.on('exit', (code) => {
    for (const one of waiting.values()) one.reject(new Error(`the load generator ended with ${code}`))
  })
  return {
    order(order) {
      const id = next++
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        child.send({ id, order })
      })
    },
    stop: () => void child.kill(),
  }
}
