/** `worker`: holds blocks in its tiers and serves them, until it is asked to end. */

import type { Tier } from '../blocks/tier.ts'
import { ConfigError } from '../config/fields.ts'
import { SourceRefused } from '../sources/source.ts'
import { createWorker } from '../worker/create-worker.ts'
import { httpMasterLink } from '../worker/http-master-link.ts'
import { type Deps, hostPort, listenAt, masterAddress, needed, readConfig, readKey, signingWith, untilEnded, WORKER_PORT } from './deps.ts'
import { createOpenSources } from './mounts.ts'

export async function worker(deps: Deps): Promise<void> {
  const { env, clock, log, signal } = deps
  const { config, engine } = readConfig(deps)
  if (config.worker.tiers.length === 0)
    throw new ConfigError('the worker has no tiered store: spec.worker.tieredStore of the runtime needs a level')
  const key = readKey(deps)
  const signing = key === undefined ? undefined : signingWith(key, clock)
  const where = listenAt(deps, WORKER_PORT)
  const link = httpMasterLink({ address: masterAddress(deps, config), signing })
  const podIp = env.get('POD_IP') ?? ''
  const tiers: Tier[] = config.worker.tiers.map(({ medium, paths, high, low }) => ({
    medium,
    paths,
    high: high ?? engine.high,
    low: low ?? engine.low,
  }))
  const sources = createOpenSources()
  const server = createWorker({
    name: needed(deps, 'POD_NAME'),
    node: needed(deps, 'NODE_NAME'),
    ...(podIp === '' || where.port === 0 ? {} : { address: hostPort(podIp, where.port) }),
    dataset: { namespace: needed(deps, 'FLUID_DATASET_NAMESPACE'), name: needed(deps, 'FLUID_DATASET_NAME') },
    tiers,
    blockBytes: engine.blockBytes,
    replicas: engine.replicas,
    ...(key === undefined || signing === undefined ? {} : { access: { runtimeKey: key, signing } }),
    master: link,
    async sourceOf(mount) {
      // Read anew: mounts come and go while a worker runs.
      const now = readConfig(deps)
      const found = now.config.mounts.find(({ name }) => name === mount)
      if (found === undefined) throw new SourceRefused('the mount of this file is not in runtime.json (yet)')
      return sources.of(found, { clock, engine: now.engine, directory: env.get('SLUICE_SOURCES_PATH') ?? '/var/lib/sluice/sources' })
    },
    clock,
    log,
  })
  const listening = await server.listen(where)
  log.write('info', 'the worker serves', { host: listening.host, port: listening.port })
  await untilEnded(signal)
  await server.close()
  await sources.close()
  link.close()
}
