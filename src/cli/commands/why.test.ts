import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { seededRandom } from '../../base/random.ts'
import { createClient } from '../../client/client.ts'
import { clusterOf, inThisProcess } from '../../composition.ts'
import { AUTHORITY, SERVICE_ACCOUNT_KEY } from '../../faultsim/world/fixed-keys.ts'
import { CONFIG_MAPS } from '../../kinds/kubernetes/resources.ts'
import { createMemoryStore } from '../../store/index.ts'
import { fakeMachine } from '../fake-machine.ts'
import { CommandError } from '../machine.ts'
import { realClock } from '../testing.ts'
import { type WhyOptions, whyFrom } from './why.ts'

describe('sluice why', () => {
  const keys = { adminToken: 'admin', serviceAccountKey: SERVICE_ACCOUNT_KEY, clientAuthority: AUTHORITY }
  const store = createMemoryStore({ clock: realClock }).cluster('hub')
  const server = clusterOf({ bare: false, clock: realClock, random: seededRandom(1), port: 1, ...keys, role: 'hub', store })
  const client = createClient({ transport: inThisProcess(server), clock: realClock, random: seededRandom(1), userAgent: 'test' })
  before(async () => {
    await server.ready
    const metadata = { name: 'settings', namespace: 'default' }
    await client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
  })

  async function ask(kind: string, name: string, options: WhyOptions = {}): Promise<{ out: string; error: string | undefined }> {
    const machine = fakeMachine()
    try {
      await whyFrom(machine, { client, where: 'the hub', namespace: 'default', explainers: [] }, { kind, name }, options)
      return { out: machine.said.out, error: undefined }
    } catch (error) {
      assert.ok(error instanceof CommandError)
      return { out: machine.said.out, error: error.message }
    }
  }

  it('explains what is there', async () => {
    const { out, error } = await ask('configmap', 'settings')
    assert.equal(error, undefined)
    assert.match(out, /^ConfigMap default\/settings\n(?:.*\n)*.*no policy selects it/)
  })

  const missing =
    'there is no ConfigMap default/nothing on the hub: create it on the hub, or name its namespace with -n; see: sluice get configmaps -A'
  it('fails for what is not there, with what to do', async () =>
    assert.deepEqual(await ask('configmap', 'nothing'), { out: '', error: missing }))

  it('fails for it as JSON, too, which is JSON all the same', async () => {
    const { out, error } = await ask('cm', 'nothing', { output: 'json' })
    assert.equal(error, missing)
    const { state, fix } = JSON.parse(out) as { state: string; fix: string }
    assert.deepEqual([state, fix], ['fails', 'create it on the hub, or name its namespace with -n'])
  })

  it('knows that some things lie in no namespace', async () => {
    const { error } = await ask('clusterrole', 'nothing')
    assert.equal(error, 'there is no ClusterRole nothing on the hub: create it on the hub; see: sluice get clusterroles')
  })
})
