/** Probes of what listens on this machine. No redirects, no certificate checks, no kept connections: a probe is one request. */
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { connect } from 'node:net'
import type { ContainerMachine } from '../kubelet/container-machine.ts'

export function dial(host: string, port: number, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: timeoutMs })
    const end = (error?: Error): void => {
      socket.destroy()
      if (error === undefined) resolve()
      else reject(error)
    }
    socket.once('connect', () => end())
    socket.once('timeout', () => end(new Error(`dial tcp ${host}:${port}: i/o timeout`)))
    socket.on('error', (error: NodeJS.ErrnoException) => end(new Error(`dial tcp ${host}:${port}: ${reasonOf(error)}`)))
  })
}

const reasonOf = (error: NodeJS.ErrnoException): string => (error.code === 'ECONNREFUSED' ? 'connect: connection refused' : error.message)

/** Longer responses are not read to the end. */
const MAX_BODY_BYTES = 10 * 1024

export const httpGet: ContainerMachine['httpGet'] = ({ host, port, path, scheme, headers, timeoutMs }) =>
  new Promise((resolve, reject) => {
    const send = scheme === 'HTTPS' ? requestHttps : requestHttp
    const sent = Object.create(null) as Record<string, string[]>
    for (const [name, value] of headers) sent[name] = [...(sent[name] ?? []), value]
    const about = { host, port, path: path.startsWith('/') ? path : `/${path}`, headers: sent, agent: false, rejectUnauthorized: false }
    const request = send(about, (response) => {
      let bytes = 0
      const done = (): void => {
        clearTimeout(timer)
        request.destroy()
        resolve(response.statusCode ?? 0)
      }
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > MAX_BODY_BYTES) done()
      })
      response.on('end', done)
      response.on('error', done)
    })
    const timer = setTimeout(() => {
      reject(new Error(`Get "${scheme.toLowerCase()}://${host}:${port}${about.path}": context deadline exceeded`))
      request.destroy()
    }, timeoutMs)
    request.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      reject(new Error(`Get "${scheme.toLowerCase()}://${host}:${port}${about.path}": dial tcp ${host}:${port}: ${reasonOf(error)}`))
    })
    request.end()
  })
