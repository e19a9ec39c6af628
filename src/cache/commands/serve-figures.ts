/** The client's HTTP server at the pod's own address. A port that is taken costs the figures and the probe, never the files. */
import { messageOf } from '../../base/error-text.ts'
import type { Figures } from '../client/figures.ts'
import { createClientServer } from '../client/server.ts'
import { CLIENT_PORT, type Deps, listenAt } from './deps.ts'

/** Resolves to what ends it. */
export async function serveFigures(deps: Deps, figures: Figures): Promise<() => Promise<void>> {
  const { log } = deps
  const { host, port } = listenAt(deps, CLIENT_PORT)
  const server = createClientServer({ figures, log })
  try {
    log.write('info', 'the client serves its figures', { host, port: await server.listen(host, port) })
  } catch (error) {
    log.write('error', 'the client serves no figures: free the port', { host, port, error: messageOf(error) })
    return async () => undefined
  }
  return () => server.close()
}
