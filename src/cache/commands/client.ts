/**
 * `client`: completes the volumes of its node as files, until it is asked to end. As a sidecar (SLUICE_SIDECAR_SUB_PATH) it
 * completes that sub path for its own pod; it says that it has by a file, for the startup probe, or by ending (SLUICE_SIDECAR_ENDS).
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { messageOf } from '../../base/error-text.ts'
import { type ClientOptions, runClient } from '../client/client.ts'
import { createFigures } from '../client/figures.ts'
import { createLocalBlocks } from '../client/local-blocks.ts'
import { fillSidecar } from '../client/sidecar.ts'
import { ConfigError } from '../config/fields.ts'
import { datasetPath } from '../config/paths.ts'
import { createBlockClient } from '../http/block-client.ts'
import { createRequester } from '../http/request.ts'
import { type Deps, masterAddress, needed, readConfig, untilEnded } from './deps.ts'
import { serveFigures } from './serve-figures.ts'

/** What a node shows of a container that has ended is no longer. */
const LONGEST_REASON = 1000

export async function client(deps: Deps): Promise<void> {
  const { env, clock, random, log } = deps
  const { config, engine } = readConfig(deps)
  const dataset = { namespace: needed(deps, 'FLUID_DATASET_NAMESPACE'), name: needed(deps, 'FLUID_DATASET_NAME') }
  const tokenFile = env.get('SLUICE_TOKEN_PATH') ?? '/var/run/secrets/sluice.dev/cache/token'
  // Tiers that are directories of the node are mounted here at the same paths as in the worker; memory of another pod is not.
  const directories = config.worker.tiers
    .flatMap(({ paths }) => paths.map(({ directory }) => directory))
    .filter((directory) => existsSync(directory))
  const requester = createRequester()
  const blocks = createBlockClient({ clock })
  const options: ClientOptions = {
    directory: needed(deps, 'FLUID_RUNTIME_MOUNT_PATH'),
    master: `http://${masterAddress(deps, config)}`,
    node: needed(deps, 'NODE_NAME'),
    blockBytes: engine.blockBytes,
    quotaBytes: engine.nodeQuotaBytes,
    local: createLocalBlocks(directories, dataset),
    blocks,
    requester,
    // Without tickets none is needed.
    token: async () => (existsSync(tokenFile) ? (await readFile(tokenFile, 'utf8')).trim() : ''),
    clock,
    random,
    log,
  }
  const subPath = env.get('SLUICE_SIDECAR_SUB_PATH')
  try {
    if (subPath !== undefined) return await sidecar(deps, options, subPath)
    await ofNode(deps, options, directories.length)
  } finally {
    blocks.close()
    requester.close()
  }
}

async function ofNode(deps: Deps, options: ClientOptions, localTiers: number): Promise<void> {
  const figures = createFigures()
  const stopServing = await serveFigures(deps, figures)
  deps.log.write('info', 'the client fills', { localTiers })
  await runClient({ ...options, figures }, deps.signal)
  await stopServing()
}

async function sidecar(deps: Deps, options: ClientOptions, text: string): Promise<void> {
  const { env, signal, log } = deps
  const state = env.get('SLUICE_SIDECAR_STATE_PATH') ?? '/var/lib/sluice/sidecar'
  const ready = path.join(state, 'ready')
  const subPath = datasetPath(text)
  if (subPath === undefined) throw new ConfigError('SLUICE_SIDECAR_SUB_PATH must be absolute and clean, or / for the whole dataset')
  mkdirSync(state, { recursive: true })
  rmSync(ready, { force: true })
  try {
    if ((await fillSidecar({ ...options, state, subPath }, signal)) === 'ended') return
  } catch (error) {
    explain(deps, messageOf(error))
    throw error
  }
  writeFileSync(ready, '')
  log.write('info', 'the sidecar is ready', { subPath })
  if (env.get('SLUICE_SIDECAR_ENDS') !== 'true') await untilEnded(signal)
}

/** For the status of the pod. */
function explain({ env, log }: Deps, reason: string): void {
  const file = env.get('SLUICE_TERMINATION_LOG') ?? '/dev/termination-log'
  try {
    writeFileSync(file, `the files of the dataset are not here: ${reason.slice(0, LONGEST_REASON)}`, { flag: 'r+' })
  } catch (error) {
    // There is none: the log has the reason.
    log.write('warn', 'the reason cannot be left for the pod', { file, error: messageOf(error) })
  }
}
