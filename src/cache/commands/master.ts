/** `master`: the server of a runtime's inventory, membership and tickets, until it is asked to end. */
import { existsSync, mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { cacheAudience } from '../../kube/cache-audience.ts'
import { createRequester } from '../http/request.ts'
import { createInventory } from '../inventory/create-inventory.ts'
import { readGrants } from '../master/access.ts'
import { issuerOf } from '../master/jwt.ts'
import { createMaster } from '../master/master.ts'
import { membersJournal } from '../master/members-journal.ts'
import { createTokenVerifier } from '../master/token-verifier.ts'
import { RESTORED } from './backup.ts'
import { askSigned, type Deps, listenAt, MASTER_PORT, needed, readConfig, readKey, readText, untilEnded } from './deps.ts'
import { inventoryMounts } from './mounts.ts'

const LEAVE_MS = 5000
/** Of a batch of blocks from a slow source. What was loaded until then is not loaded again. */
const LOAD_MS = 50_000

export async function master(deps: Deps): Promise<void> {
  const { env, clock, random, log, signal } = deps
  const namespace = needed(deps, 'FLUID_DATASET_NAMESPACE')
  const audience = cacheAudience({ namespace, name: needed(deps, 'FLUID_DATASET_NAME') })
  let configured = readConfig(deps)
  const { engine } = configured
  const key = readKey(deps)
  const state = env.get('SLUICE_STATE_PATH') ?? '/var/lib/sluice/master'
  const accessFile = env.get('SLUICE_ACCESS_PATH') ?? '/etc/sluice/access/namespaces.json'
  const mountDeps = { clock, engine, directory: env.get('SLUICE_SOURCES_PATH') ?? '/var/lib/sluice/sources' }
  mkdirSync(state, { recursive: true })
  const requester = createRequester()
  const inventory = await createInventory({
    mounts: inventoryMounts(configured.config, mountDeps),
    // Without a key ids can be guessed; without tickets that opens nothing more.
    key: key ?? Buffer.from('sluice'),
    clock,
    random,
    journal: path.join(state, 'inventory.journal'),
    backup: backupFor(deps, state),
    log,
    syncIntervalMs: engine.syncIntervalMs,
  })
  const server = createMaster({
    access: {
      key,
      namespace,
      verifier: createTokenVerifier({ clock, audience, ...clusterKeys(deps, requester) }),
      grants: async () => (existsSync(accessFile) ? readGrants(readText(accessFile)) : []),
      isWritable: () => configured.config.accessModes.some((mode) => mode !== 'ReadOnlyMany'),
    },
    inventory,
    journal: membersJournal(state),
    blockBytes: engine.blockBytes,
    clock,
    log,
    async reloadMounts() {
      configured = readConfig(deps)
      inventory.setMounts(inventoryMounts(configured.config, mountDeps))
      return configured.config.mounts.map((mount) => mount.path)
    },
    askToLeave: (address, asked) =>
      askSigned(requester, { address, key, clock }, { method: 'POST', target: '/v1/leave', timeoutMs: LEAVE_MS, signal: asked }),
    askToClear: (address, asked) =>
      askSigned(requester, { address, key, clock }, { method: 'POST', target: '/v1/clear', timeoutMs: LEAVE_MS, signal: asked }),
    askToStay: (address, asked) =>
      askSigned(requester, { address, key, clock }, { method: 'POST', target: '/v1/stay', timeoutMs: LEAVE_MS, signal: asked }),
    preload: {
      replicas: engine.replicas,
      isAutomatic: engine.preload,
      askToLoad: (address, body, asked) =>
        askSigned(requester, { address, key, clock }, { method: 'POST', target: '/v1/loads', body, timeoutMs: LOAD_MS, signal: asked }),
    },
  })
  const where = listenAt(deps, MASTER_PORT)
  const port = await server.listen(where.host, where.port)
  log.write('info', 'the master serves', { host: where.host, port })
  await untilEnded(signal)
  await server.close()
  await inventory.close()
  requester.close()
}

/** Fluid's variable, or what `restore` has left in the master's own directory. */
function backupFor({ env }: Deps, state: string): string | undefined {
  const given = env.get('JOURNAL_BACKUP') ?? ''
  if (given !== '') return given
  const restored = path.join(state, RESTORED)
  return existsSync(restored) ? restored : undefined
}

/** The issuer's keys, read from the cluster's API server with the pod's own account, which needs no right for it. */
function clusterKeys({ env }: Deps, requester: ReturnType<typeof createRequester>) {
  const account = env.get('SLUICE_ACCOUNT_PATH') ?? '/var/run/secrets/kubernetes.io/serviceaccount'
  const [host, port] = [env.get('KUBERNETES_SERVICE_HOST') ?? '', env.get('KUBERNETES_SERVICE_PORT') ?? '443']
  const ownToken = async () => (await readFile(path.join(account, 'token'), 'utf8')).trim()
  return {
    async fetchKeys(): Promise<unknown> {
      if (host === '') throw new Error('KUBERNETES_SERVICE_HOST is not set')
      return requester.json({
        origin: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
        target: '/openid/v1/jwks',
        headers: { authorization: `Bearer ${await ownToken()}` },
        ca: await readFile(path.join(account, 'ca.crt'), 'utf8'),
        mostBytes: 1024 * 1024,
      })
    },
    issuer: async () => issuerOf(await ownToken()) ?? '',
  }
}
