/** `migrate`: copies one place to another, from where the last attempt was; see docs/design/0017-programs.md. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { messageOf } from '../../base/error-text.ts'
import { createBlockFetcher } from '../client/block-fetcher.ts'
import { createCacheSource } from '../client/cache-source.ts'
import { createLocalBlocks } from '../client/local-blocks.ts'
import { linkVolume } from '../client/master-link.ts'
import { ConfigError } from '../config/fields.ts'
import { createBlockClient } from '../http/block-client.ts'
import { createRequester } from '../http/request.ts'
import { migrate as runMigrate } from '../migrate/migrate.ts'
import { assertApart, openFrom, openTo, type PlaceDeps } from '../migrate/open-places.ts'
import { placeOf } from '../migrate/place.ts'
import type { MigrateResult } from '../migrate/tally.ts'
import type { Progress } from '../operations/progress.ts'
import type { Source } from '../sources/source.ts'
import { askSigned, type Deps, masterAddress, needed, readConfig, readKey } from './deps.ts'
import { flag } from './flag.ts'
import { mountedAt } from './mounts.ts'
import { type OperationEnd, runOperation } from './operation.ts'

const MOST_COPIES = 32
const SYNC_MS = 30_000

export const migrate = (deps: Deps): Promise<number> => runOperation(deps, 'migrate', (progress) => migrateOnce(deps, progress))

async function migrateOnce(deps: Deps, progress: Progress): Promise<OperationEnd> {
  const { clock, log, signal } = deps
  const from = placeOf(needed(deps, 'SLUICE_MIGRATE_FROM'), 'SLUICE_MIGRATE_FROM')
  const to = placeOf(needed(deps, 'SLUICE_MIGRATE_TO'), 'SLUICE_MIGRATE_TO')
  const parallelism = parallelismOf(deps)
  const removesOthers = flag(deps, 'SLUICE_MIGRATE_DELETE')
  const allowsLeftOut = flag(deps, 'SLUICE_MIGRATE_ALLOW_LEFT_OUT')
  const places = placeDeps(deps)
  const source = await openFrom(from, places)
  try {
    const target = await openTo(to, places)
    assertApart(source, target)
    const result = await runMigrate({ source: source.it, target: target.it, parallelism, removesOthers, progress, clock, log, signal })
    if (to.scheme === 'dataset') await notifyMaster(deps)
    return endOf(result, allowsLeftOut)
  } finally {
    await source.it.close()
  }
}

function endOf(result: MigrateResult, allowsLeftOut: boolean): OperationEnd {
  const { failed, leftOut } = result
  if (failed > 0) return { result: 'failed', reason: `${failed} files could not be copied`, figures: result }
  if (leftOut > 0 && !allowsLeftOut)
    return { result: 'incomplete', reason: `${leftOut} names were left out, because no file could be made of them`, figures: result }
  return { result: 'complete', figures: result }
}

const placeDeps = (deps: Deps): PlaceDeps => ({
  clock: deps.clock,
  log: deps.log,
  allowPrivateAddresses: flag(deps, 'SLUICE_ALLOW_PRIVATE_ADDRESSES'),
  checks: flag(deps, 'SLUICE_MIGRATE_CHECKSUM'),
  openCache: (subPath) => openCache(deps, subPath),
  mounts: () => readConfig(deps).config.mounts,
  mountedAt: (mount) => mountedAt(mount, deps.env.get('SLUICE_SOURCES_PATH') ?? '/var/lib/sluice/sources'),
})

/** As a client reads it, with the token of this pod. */
async function openCache(deps: Deps, subPath: string): Promise<Source> {
  const { env, clock, random } = deps
  const { config, engine } = readConfig(deps)
  const dataset = { namespace: needed(deps, 'FLUID_DATASET_NAMESPACE'), name: needed(deps, 'FLUID_DATASET_NAME') }
  const tokenFile = env.get('SLUICE_TOKEN_PATH') ?? '/var/run/secrets/sluice.dev/cache/token'
  const token = async () => (existsSync(tokenFile) ? (await readFile(tokenFile, 'utf8')).trim() : '')
  const [requester, blocks] = [createRequester(), createBlockClient({ clock })]
  const link = linkVolume({ origin: `http://${masterAddress(deps, config)}`, requester, clock, token }, subPath)
  const fetcher = createBlockFetcher({
    ...{ link, blocks, requester, clock, random },
    local: createLocalBlocks([], dataset),
    node: env.get('NODE_NAME') ?? '',
  })
  const close = (): void => {
    blocks.close()
    requester.close()
  }
  return createCacheSource({ subPath, link, fetcher, blockBytes: engine.blockBytes, close })
}

/** So that what was written is seen soon; without it, it is seen with the next listing. */
async function notifyMaster(deps: Deps): Promise<void> {
  const requester = createRequester()
  try {
    const of = { address: masterAddress(deps, readConfig(deps).config), key: readKey(deps), clock: deps.clock }
    await askSigned(requester, of, { method: 'POST', target: '/v1/sync', timeoutMs: SYNC_MS, signal: deps.signal })
  } catch (error) {
    deps.log.write('warn', 'the master could not be told of what was written: it is seen with its next listing', {
      reason: messageOf(error),
    })
  } finally {
    requester.close()
  }
}

function parallelismOf({ env }: Deps): number {
  const text = env.get('SLUICE_MIGRATE_PARALLELISM') ?? '1'
  const count = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0
  if (count < 1) throw new ConfigError('SLUICE_MIGRATE_PARALLELISM must be a number of at least 1')
  return Math.min(count, MOST_COPIES)
}
