/** `client`: completes the volumes of its node as files, until it is asked to end. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { runClient } from '../client/client.ts'
import { createLocalBlocks } from '../client/local-blocks.ts'
import { createBlockClient } from '../http/block-client.ts'
import { createRequester } from '../http/request.ts'
import { type Deps, masterAddress, needed, readConfig } from './deps.ts'

export async function client(deps: Deps): Promise<void> {
  const { env, clock, random, log, signal } = deps
  const { config, engine } = readConfig(deps)
  const dataset = { namespace: needed(deps, 'FLUID_DATASET_NAMESPACE'), name: needed(deps, 'FLUID_DATASET_NAME') }
  const tokenFile = env.get('SLUICE_TOKEN_PATH') ?? '/var/run/secrets/sluice.dev/cache/token'
  // Tiers that are directories of the node are mounted here at the same paths as in the worker; memory of another pod is not.
  const directories = config.worker.tiers
    .flatMap(({ paths }) => paths.map(({ directory }) => directory))
    .filter((directory) => existsSync(directory))
  const requester = createRequester()
  const blocks = createBlockClient({ clock })
  log.write('info', 'the client fills', { localTiers: directories.length })
  await runClient(
    {
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
    },
    signal,
  )
  blocks.close()
  requester.close()
}
