/** `worker`: holds blocks in its tiers and serves them, until it is asked to end. */

import { messageOf } from '../../base/error-text.ts'
import type { Tier } from '../blocks/tier.ts'
import { ConfigError } from '../config/fields.ts'
import { SourceRefused } from '../sources/source.ts'
import { createWorker } from '../worker/create-worker.ts'
import { httpMasterLink } from '../worker/http-master-link.ts'
import type { Worker } from '../worker/options.ts'
import {
  type Configured,
  configStamp,
  type Deps,
  hostPort,
  listenAt,
  masterAddress,
  needed,
  readConfig,
  readKey,
  signingWith,
  untilEnded,
  WORKER_PORT,
} from './deps.ts'
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
  const sources = createOpenSources()
  const server = createWorker({
    name: needed(deps, 'POD_NAME'),
    node: needed(deps, 'NODE_NAME'),
    ...(podIp === '' || where.port === 0 ? {} : { address: hostPort(podIp, where.port) }),
    dataset: { namespace: needed(deps, 'FLUID_DATASET_NAMESPACE'), name: needed(deps, 'FLUID_DATASET_NAME') },
    tiers: tiersOf({ config, engine }),
    blockBytes: engine.blockBytes,
    replicas: engine.replicas,
    isPinned: engine.pin,
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
  const stopFollowing = followQuotas(deps, server, { config, engine })
  await untilEnded(signal)
  stopFollowing()
  await server.close()
  await sources.close()
  link.close()
}

const tiersOf = ({ config, engine }: Configured): Tier[] =>
  config.worker.tiers.map(({ medium, paths, high, low }) => ({ medium, paths, high: high ?? engine.high, low: low ?? engine.low }))

const LOOK_MS = 1000

/** Quotas in runtime.json may change while the worker runs; what is cached stays, as far as it fits. Returns what ends it. */
function followQuotas(deps: Deps, server: Worker, configured: Configured): () => void {
  const { clock, log } = deps
  let tiers = JSON.stringify(tiersOf(configured))
  let stamp = configStamp(deps)
  let stop: () => void = () => undefined
  const look = (): void => {
    const now = configStamp(deps)
    if (now !== stamp) {
      stamp = now
      change()
    }
    stop = clock.after(LOOK_MS, look)
  }
  function change(): void {
    try {
      const wanted = tiersOf(readConfig(deps))
      const text = JSON.stringify(wanted)
      if (text === tiers) return
      tiers = text
      server
        .setQuotas(wanted)
        .then(() => log.write('info', 'the quotas have changed', {}))
        .catch((error: unknown) => log.write('warn', 'the quotas stay as they were', { error: messageOf(error) }))
    } catch (error) {
      log.write('warn', 'the new configuration is not used', { error: messageOf(error) })
    }
  }
  stop = clock.after(LOOK_MS, look)
  return () => stop()
}
