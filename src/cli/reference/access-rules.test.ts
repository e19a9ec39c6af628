import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { readAll, type Transport } from '../../client/transport.ts'
import { type ClusterRole as Role, runControllers } from '../../composition.ts'
import type { RunControllers } from '../../faultsim/world/cluster.ts'
import { World, type WorldCluster } from '../../faultsim/world/index.ts'
import { DEPLOYMENTS, JOBS, NAMESPACES, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { MODULES } from '../../modules.ts'
import { declaredControllers } from '../../runtime/module/module.ts'
import { accessFiles, accessOf, OF_EVERY_RESOURCE, OF_THE_PROCESS } from './access-rules.ts'

/** The same transport as another user: only what that user's roles allow is permitted. */
function as(user: string, { request, close }: Transport, refused: string[]): Transport {
  return {
    async request(asked) {
      const answer = await request({ ...asked, headers: { ...asked.headers, 'impersonate-user': user } })
      if (answer.status !== 403) return answer
      // A terminating namespace also answers 403; this is about permissions only.
      const text = await readAll(answer.body)
      if (text.includes(' cannot ')) refused.push(`${user}: ${asked.method} ${asked.path}`)
      return { ...answer, body: Readable.from([text]) }
    },
    close,
  }
}

/** Controllers that start once they have their permissions. */
function controllersAs(userOf: (part: string) => string, refused: string[]): { run: RunControllers; allow(): void } {
  let isAllowed = false
  const idle = { busy: () => [], resync: () => undefined, stop: async () => undefined }
  return {
    allow() {
      isAllowed = true
    },
    run: (options) =>
      isAllowed ? runControllers({ ...options, transportFor: (part) => as(userOf(part), options.transportFor(part), refused) }) : idle,
  }
}

const documentsOf = (role: Role): KubeObject[] => {
  const file = accessFiles().find(({ path }) => path === `deploy/rbac/${role}.yaml`)
  return parseAllDocuments(file?.content ?? '').map((document) => document.toJS() as KubeObject)
}

const POD = (name: string, volumes: object[] = []) => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name: 'c', image: 'nginx' }], volumes },
})
const selector = (name: string) => ({ matchLabels: { app: name } })
const aThing = (apiVersion: string, kind: string, name: string, spec: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'work' },
  spec,
})
const CLAIM = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }

/** A bit of everything that users do with a member. */
async function liveIn(member: WorldCluster, settle: () => Promise<void>): Promise<void> {
  await member.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'work' } })
  await settle()
  const things = [
    aThing('v1', 'ResourceQuota', 'quota', { hard: { pods: '50' } }),
    aThing('v1', 'Service', 'web', { selector: { app: 'web' }, ports: [{ port: 80 }] }),
    aThing('policy/v1', 'PodDisruptionBudget', 'web', { minAvailable: 1, selector: selector('web') }),
    aThing('apps/v1', 'Deployment', 'web', { replicas: 3, selector: selector('web'), template: POD('web') }),
    aThing('apps/v1', 'DaemonSet', 'each', { selector: selector('each'), template: POD('each') }),
    aThing('apps/v1', 'StatefulSet', 'store', {
      serviceName: 'store',
      replicas: 2,
      selector: selector('store'),
      template: POD('store'),
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: CLAIM }],
    }),
    aThing('batch/v1', 'Job', 'once', {
      ttlSecondsAfterFinished: 60,
      completions: 2,
      template: { spec: { ...POD('once').spec, restartPolicy: 'Never' } },
    }),
    aThing('batch/v1', 'CronJob', 'often', {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: { spec: { ...POD('often').spec, restartPolicy: 'Never' } } } },
    }),
    aThing('v1', 'Pod', 'scratch', POD('scratch', [{ name: 's', ephemeral: { volumeClaimTemplate: { spec: CLAIM } } }]).spec),
  ]
  for (const thing of things) await member.create(thing)
  await settle()
  await member.patch(DEPLOYMENTS, 'work/web', { spec: { template: { spec: { containers: [{ name: 'c', image: 'nginx:2' }] } } } })
  await member.patch(STATEFUL_SETS, 'work/store', { spec: { replicas: 1 } })
  await settle()
  await member.advance(150_000)
  await settle()
  assert.equal(await member.get(JOBS, 'work/once'), undefined, 'its time was over')
  await member.delete(PODS, 'work/scratch')
  const [node] = (await member.list(PODS, { namespace: 'work' })).map(({ spec }) => (spec as { nodeName: string }).nodeName)
  await member.patch({ ...NAMESPACES, plural: 'nodes', kind: 'Node' }, node ?? '', {
    spec: { taints: [{ key: 'out', effect: 'NoExecute' }] },
  })
  await settle()
  await member.delete(STATEFUL_SETS, 'work/store', { propagationPolicy: 'Foreground' })
  for (const claim of await member.list(PERSISTENT_VOLUME_CLAIMS, { namespace: 'work' }))
    await member.delete(PERSISTENT_VOLUME_CLAIMS, `work/${claim.metadata.name}`)
  await settle()
  await member.delete(NAMESPACES, 'work')
  await settle()
  assert.equal(await member.get(NAMESPACES, 'work'), undefined)
}

async function expectEnough(documents: readonly KubeObject[], userOf: (part: string) => string): Promise<void> {
  const refused: string[] = []
  const { run, allow } = controllersAs(userOf, refused)
  const world = new World({ hub: false, members: 1, nodes: 3, controllers: run })
  await world.start()
  const [member] = world.members
  assert.ok(member !== undefined)
  for (const document of documents) await member.create(document)
  allow()
  await world.restartControllers()
  await world.settle()
  await liveIn(member, () => world.settle())
  assert.deepEqual(refused, [])
  assert.deepEqual(member.complaints, [])
  assert.ok(member.takeControllerWrites().length > 50)
  await world.stop()
}

const bound = (user: string, rules: object[]): KubeObject[] => [
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: user }, rules },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: user },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: user },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  } as KubeObject,
]

describe('the generated rights', () => {
  it('suffice for everything that the controllers of a member do, as the ServiceAccount they are given to', async () => {
    // Those that our own server has made already.
    const made = new Set([
      'ServiceAccount default',
      ...MODULES.flatMap(({ userRoles }) => userRoles?.member ?? []).map(({ metadata }) => `ClusterRole ${metadata.name}`),
    ])
    const documents = documentsOf('member').filter(({ kind, metadata }) => !made.has(`${kind} ${metadata.name}`))
    await expectEnough(documents, () => 'system:serviceaccount:kube-system:sluice')
  })

  it('suffice for each controller alone: what it declares is all it may', async () => {
    const declared = [...declaredControllers(MODULES)].flatMap(([{ roles }, own]) => (roles.includes('member') ? own : []))
    const controllers = declared.filter(({ needsHost }) => needsHost !== true)
    // Caches are read for all of them; loops that follow the whole cluster cannot name resources.
    const whole = [...OF_EVERY_RESOURCE, ...OF_THE_PROCESS]
    const users = controllers.flatMap((controller) => bound(controller.name, [...accessOf(controller), ...OF_THE_PROCESS]))
    const names = new Set(controllers.map(({ name }) => name))
    await expectEnough([...users, ...bound('everybody', whole)], (part) => (names.has(part) ? part : 'everybody'))
  })

  it('are not needed to be more: without them the server refuses', async () => {
    const refused: string[] = []
    const { run, allow } = controllersAs(() => 'system:serviceaccount:kube-system:sluice', refused)
    const world = new World({ hub: false, members: 1, nodes: 1, controllers: run })
    await world.start()
    allow()
    await world.restartControllers()
    await world.members[0]?.advance(5000)
    assert.ok(refused.length > 0)
    await world.stop()
  })
})
