import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import { AUTHORITY } from '../../../faultsim/world/fixed-keys.ts'
import type { World, WorldCluster } from '../../../faultsim/world/index.ts'
import { SECRETS, SERVICE_ACCOUNTS } from '../../../kinds/kubernetes/resources.ts'
import type { Secret, ServiceAccount } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { plan, serviceAccountToken } from './controller.ts'

const MEMBER = { members: 1, hub: false }
const TYPE = 'kubernetes.io/service-account-token'

const anAccount = (name: string): ServiceAccount => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'default' } })

function aTokenSecret(name: string, account: string): Secret {
  const annotations = { 'kubernetes.io/service-account.name': account }
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default', annotations }, type: TYPE }
}

const secretOf = async (cluster: WorldCluster, name: string) => (await cluster.get(SECRETS, `default/${name}`)) as Secret | undefined
const decode = (text: string | undefined): string => Buffer.from(text ?? '', 'base64').toString()

/** The server's TokenReview of this token. */
async function review(world: World, token: string): Promise<{ authenticated?: boolean; user?: { username?: string }; error?: string }> {
  const resource = { group: 'authentication.k8s.io', version: 'v1', plural: 'tokenreviews', kind: 'TokenReview', namespaced: false }
  const body: KubeObject = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } }
  const answer = await world.member.inside(() => world.member.client.create(resource, body))
  return (answer.status ?? {}) as { authenticated?: boolean }
}

describe('tokens of service accounts in secrets', () => {
  story(
    'a secret gets a token that the server believes',
    async (world) => {
      const { member } = world
      await member.create(anAccount('robot'))
      await member.create(aTokenSecret('robot-token', 'robot'))
      await world.settle()
      const secret = await secretOf(member, 'robot-token')
      const account = await member.get(SERVICE_ACCOUNTS, 'default/robot')
      assert.equal(secret?.metadata.annotations?.['kubernetes.io/service-account.uid'], account?.metadata.uid)
      assert.deepEqual([decode(secret?.data?.namespace), decode(secret?.data?.['ca.crt'])], ['default', AUTHORITY])
      const token = decode(secret?.data?.token)
      const before = await review(world, token)
      assert.deepEqual([before.authenticated, before.user?.username], [true, 'system:serviceaccount:default:robot'])
      // It never expires, but it is valid only as long as the secret holds it.
      await world.advance(100 * 60_000)
      assert.equal((await review(world, token)).authenticated, true)
      await member.delete(SECRETS, 'default/robot-token')
      assert.deepEqual([(await review(world, token)).authenticated ?? false], [false])
    },
    MEMBER,
  )

  story(
    'a secret goes with its account, also when another of that name comes',
    async (world) => {
      const { member } = world
      await member.create(anAccount('robot'))
      await member.create(aTokenSecret('robot-token', 'robot'))
      await member.create(aTokenSecret('nobodys', 'nobody'))
      await world.settle()
      assert.equal(await secretOf(member, 'nobodys'), undefined)
      await member.delete(SERVICE_ACCOUNTS, 'default/robot')
      await member.create(anAccount('robot'))
      await world.settle()
      assert.equal(await secretOf(member, 'robot-token'), undefined)
    },
    MEMBER,
  )

  story(
    'what is taken out is put back, and a new authority is passed on',
    async (world) => {
      const { member } = world
      await member.create(aTokenSecret('default-token', 'default'))
      await world.settle()
      const token = (await secretOf(member, 'default-token'))?.data?.token
      await member.patch(SECRETS, 'default/default-token', { data: { token: null, namespace: null, mine: 'bXk=' } })
      await world.settle()
      const { data } = (await secretOf(member, 'default-token')) ?? {}
      assert.deepEqual([data?.token, decode(data?.namespace), data?.mine], [token, 'default', 'bXk='])
      await member.inside(() => member.rotateAuthority('another'))
      await world.settle()
      const after = (await secretOf(member, 'default-token'))?.data
      assert.deepEqual([decode(after?.['ca.crt']), after?.token], ['another', token])
    },
    MEMBER,
  )

  it('leaves alone what is full, and everything else', () => {
    const account = anAccount('a')
    const data = { token: 'eA==', namespace: 'eA==', 'ca.crt': Buffer.from('pem').toString('base64') }
    const secret = { ...aTokenSecret('s', 'a'), data }
    assert.deepEqual(plan({ secret, account, authority: 'pem', token: undefined }).actions, [])
    assert.deepEqual(plan({ secret: undefined, account: undefined, authority: '', token: undefined }).actions, [])
  })

  survives(serviceAccountToken({ authority: () => '', signToken: () => '' }), {
    steps: [
      (cluster) => cluster.create(anAccount('robot')),
      (cluster) => cluster.create(aTokenSecret('robot-token', 'robot')),
      (cluster) => cluster.create(aTokenSecret('nobodys', 'nobody')),
      (cluster) => cluster.delete(SERVICE_ACCOUNTS, 'default/robot'),
    ],
    async atRest(cluster) {
      assert.deepEqual(
        (await cluster.list(SECRETS, { namespace: 'default' })).map(({ metadata }) => metadata.name),
        [],
      )
    },
  })
})
