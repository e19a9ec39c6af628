/** What the client of a node answers over HTTP: its figures, and that it runs. Nothing of the dataset: it takes no tickets. */
import type { Log } from '../../base/log.ts'
import { createHttpServer, type HttpServer, type Route } from '../http/server.ts'
import type { Figures } from './figures.ts'

const MOST_CONNECTIONS = 32

export const createClientServer = ({ figures, log }: { figures: Figures; log: Log }): HttpServer =>
  createHttpServer({ routes: routesOf(figures), log, limits: { connections: MOST_CONNECTIONS, closeMs: 1000 } })

const routesOf = (figures: Figures): Route[] => [
  { method: 'GET', path: '/metrics', handle: () => ({ text: figures.text(), type: 'text/plain; version=0.0.4' }) },
  { method: 'GET', path: '/healthz', handle: () => ({ text: 'ok' }) },
  // Requests are files, which it reads whether or not anybody answers it: it is ready as soon as it runs.
  { method: 'GET', path: '/readyz', handle: () => ({ text: 'ok' }) },
]
