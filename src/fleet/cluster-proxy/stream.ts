/** A member's answer as it arrives, no faster than the client reads it. */

import type { TransportResponse } from '../../client/transport.ts'
import type { ApiResponse } from '../../kube/http.ts'

export function streamed(answer: TransportResponse, onEnd: () => void): Extract<ApiResponse['body'], (...args: never) => unknown> {
  return (sink) => {
    let isStopped = false
    let goOn: () => void = () => undefined
    const drained = (): Promise<void> =>
      new Promise((resolve) => {
        goOn = resolve
        sink.onDrain(resolve)
      })
    const pump = async (): Promise<void> => {
      for await (const chunk of answer.body) {
        if (isStopped) return
        if (!sink.write(chunk)) await drained()
        if (isStopped) return
      }
      sink.end()
    }
    const broken = (): void => {
      if (isStopped) return
      if (sink.breakOff === undefined) sink.end()
      else sink.breakOff()
    }
    void pump().catch(broken).finally(onEnd)
    return () => {
      isStopped = true
      goOn()
      answer.cancel()
    }
  }
}
