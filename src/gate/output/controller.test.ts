import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectGone } from '../../faultsim/expect/index.ts'
import { type Invariant, survives } from '../../faultsim/survives.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { changePastAdmission } from '../../faultsim/world/past-admission.ts'
import { RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { CRON_JOBS, DEPLOYMENTS, JOBS } from '../../kinds/kubernetes/resources.ts'
import { DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { sourceObjectName } from '../../kinds/volcano/source-name.ts'
import { PRODUCER_NAMESPACE, PRODUCES_ANNOTATION, PROVISIONED_BY } from '../../kinds/volcano/well-known.ts'
import { fieldAt } from '../../kube/fields.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { unconnected } from '../../runtime/module/unconnected.ts'
import { outputController } from './controller.ts'
import type { OutputDeps } from './observe.ts'
import {
  aCronJob,
  aDeployment,
  aJob,
  aSource,
  bindingAt,
  completed,
  eventsOf,
  FAILED,
  minute,
  modulesWithData,
  outputStory,
  published,
  publishing,
  reports,
  scheduled,
  sources,
  theSource,
} from './testing.ts'

const SALES = 'hive/table/sales.daily'
const SALES_NAME = { system: 'hive', type: 'table', name: 'sales.daily' }
/** Long enough for whatever members report. */
const TEN_MINUTES = 600_000
const DAILY = bindingAt('default/daily', 'Job')

/** A Job of this name that makes sales.daily and succeeded in member1. */
async function succeeded(hub: WorldCluster, where: string, time = minute(1)): Promise<KubeObject> {
  const made = await scheduled(hub, aJob(where, SALES))
  await reports(hub, bindingAt(where, 'Job'), { member1: completed(time) })
  return made
}

const annotate = (hub: WorldCluster, where: string, produces: string | null): Promise<KubeObject> =>
  hub.patch(JOBS, where, { metadata: { annotations: { [PRODUCES_ANNOTATION]: produces } } })

describe('what a workload made', () => {
  outputStory('is published when it has succeeded, with where and by whom', async ({ hub, world }) => {
    const job = await scheduled(hub, aJob('default/daily', SALES))
    await world.settle()
    assert.deepEqual(await sources(hub), [], 'nothing is known before the end')
    await reports(hub, DAILY, { member1: { active: 1 } })
    await world.settle()
    assert.deepEqual(await sources(hub), [], 'it runs')
    await world.advance(TEN_MINUTES)
    await reports(hub, DAILY, { member1: completed(minute(1)) })
    await world.settle()
    const { metadata, spec } = await theSource(hub)
    assert.equal(metadata.name, sourceObjectName(SALES_NAME, 'default'))
    assert.deepEqual(metadata.annotations, {
      'sluice.dev/provisioned-by': 'output/jobs.batch/daily',
      'sluice.dev/producer-namespace': 'default',
      'sluice.dev/version': 'v1',
      'sluice.dev/run': `${job.metadata.uid}@${minute(1)}`,
    })
    assert.deepEqual(spec, { ...SALES_NAME, locality: { clusterNames: ['member1'] }, reclaimPolicy: 'Retain' })
    assert.deepEqual(await eventsOf(hub, 'default/daily'), [
      `Published: "${SALES}" is published as DataSource ${metadata.name}, version v1, in member1.`,
    ])
  })

  outputStory('is not published when it failed', async ({ hub, world }) => {
    await scheduled(hub, aJob('default/daily', SALES))
    await reports(hub, DAILY, { member1: FAILED })
    await world.settle()
    assert.deepEqual(await sources(hub), [])
  })

  outputStory('is published where the first copy succeeded, then where others did, as one version', async ({ hub, world }) => {
    await scheduled(hub, aJob('default/daily', SALES), { clusters: ['member2', 'member1', 'member3'] })
    await reports(hub, DAILY, { member2: completed(minute(1)), member1: { active: 1 } })
    await world.settle()
    assert.deepEqual(await published(hub), ['sales.daily v1: member2'])
    await reports(hub, DAILY, { member2: completed(minute(1)), member1: completed(minute(2)), member3: FAILED })
    await world.settle()
    assert.deepEqual(await published(hub), ['sales.daily v1: member1 member2'])
    await hub.patch(RESOURCE_BINDINGS, DAILY, { spec: { clusters: [{ name: 'member1' }] } })
    await world.settle()
    assert.deepEqual(await published(hub), ['sales.daily v1: member1 member2'], 'that a copy is removed does not remove the data')
  })

  outputStory('is published as a whole when it is divided', async ({ hub, world }) => {
    await scheduled(hub, aJob('default/daily', SALES), { clusters: ['member1', 'member2'], isDivided: true })
    await reports(hub, DAILY, { member1: completed(minute(1)), member2: { active: 1 } })
    await world.settle()
    assert.deepEqual(await sources(hub), [])
    await reports(hub, DAILY, { member1: completed(minute(1)), member2: completed(minute(2)) })
    await world.settle()
    assert.deepEqual(await published(hub), ['sales.daily v1: member1 member2'])
  })

  outputStory('gets a version with every run of a CronJob', async ({ hub, world }) => {
    const nightly = bindingAt('default/nightly', 'CronJob')
    await scheduled(hub, aCronJob('default/nightly', SALES), { clusters: ['member1', 'member2'] })
    const expected = ['sales.daily v1: member1', 'sales.daily v2: member1', 'sales.daily v3: member1']
    await world.advance(TEN_MINUTES)
    for (const [day, line] of expected.entries()) {
      await reports(hub, nightly, { member1: { lastSuccessfulTime: minute(day + 1) } })
      await world.settle()
      assert.deepEqual(await published(hub), [line])
    }
    await reports(hub, nightly, { member1: { lastSuccessfulTime: minute(3), lastScheduleTime: minute(4) } })
    await world.settle()
    assert.deepEqual(await published(hub), ['sales.daily v3: member1'], 'a run counts once')
    await reports(hub, nightly, { member1: { lastSuccessfulTime: minute(2) } })
    await world.settle()
    assert.deepEqual(await published(hub), ['sales.daily v3: member1'], 'an earlier run is no news')
    assert.equal((await theSource(hub)).metadata.annotations?.[PROVISIONED_BY], 'output/cronjobs.batch/nightly')
    await hub.delete(CRON_JOBS, 'default/nightly')
  })

  outputStory('gets a version when the workload is created and succeeds again', async ({ hub, world }) => {
    await succeeded(hub, 'default/daily')
    await world.settle()
    await hub.delete(RESOURCE_BINDINGS, DAILY)
    await hub.delete(JOBS, 'default/daily', { propagationPolicy: 'Background' })
    await world.settle()
    assert.deepEqual(await published(hub), ['sales.daily v1: member1'], 'what was made stays')
    await scheduled(hub, aJob('default/daily', SALES), { clusters: ['member2'] })
    await world.settle()
    assert.deepEqual(await published(hub), ['sales.daily v1: member1'], 'until it is made anew')
    await reports(hub, DAILY, { member2: completed('2030-01-01T00:00:00Z') })
    await world.settle()
    assert.deepEqual(await published(hub), ['sales.daily v2: member2'], 'also by a member whose clock is wrong')
  })

  outputStory('is everything that it declares, and what it no longer declares stays', async ({ hub, world }) => {
    await succeeded(hub, 'default/daily')
    await annotate(hub, 'default/daily', `s3/prefix/lake/sales, ${SALES}`)
    await world.settle()
    assert.deepEqual(await published(hub), ['lake/sales v1: member1', 'sales.daily v1: member1'])
    await annotate(hub, 'default/daily', 's3/prefix/lake/sales')
    await world.settle()
    assert.deepEqual(await published(hub), ['lake/sales v1: member1', 'sales.daily v1: member1'])
  })

  outputStory('is made anew when it is deleted by hand, until the workload no longer declares it', async ({ hub, world }) => {
    await succeeded(hub, 'default/daily')
    await world.settle()
    const { metadata } = await theSource(hub)
    await hub.delete(DATA_SOURCES, metadata.name ?? '')
    await world.settle()
    assert.notEqual((await theSource(hub)).metadata.uid, metadata.uid)
    await annotate(hub, 'default/daily', null)
    await hub.delete(DATA_SOURCES, metadata.name ?? '')
    await world.settle()
    await expectGone(hub, DATA_SOURCES, metadata.name ?? '')
  })
})

describe('two workloads of one namespace that make the same', () => {
  const [early, late] = [minute(1), minute(3)]
  for (const [first, second, versions] of [
    [early, late, 2],
    [late, early, 1],
    [early, early, undefined],
  ] as const)
    outputStory(`come to rest: the one reported first ended at ${first}, the other at ${second}`, async ({ hub, world }) => {
      for (const name of ['a', 'b']) await scheduled(hub, aJob(`default/${name}`, SALES), { clusters: [`member-${name}`] })
      await world.advance(TEN_MINUTES)
      await reports(hub, 'default/a-job', { 'member-a': completed(first) })
      await world.settle()
      await reports(hub, 'default/b-job', { 'member-b': completed(second) })
      await world.settle()
      if (versions !== undefined)
        assert.deepEqual(await published(hub), [`sales.daily v${versions}: member-${second === late ? 'b' : 'a'}`])
      assert.equal((await sources(hub)).length, 1)
    })

  outputStory('take turns with their runs', async ({ hub, world }) => {
    for (const name of ['a', 'b']) await scheduled(hub, aCronJob(`default/${name}`, SALES), { clusters: [`member-${name}`] })
    const runs = [
      ['a', 1],
      ['b', 2],
      ['a', 3],
      ['a', 4],
      ['b', 5],
    ] as const
    await world.advance(TEN_MINUTES)
    for (const [i, [name, n]] of runs.entries()) {
      await reports(hub, `default/${name}-cronjob`, { [`member-${name}`]: { lastSuccessfulTime: minute(n) } })
      await world.settle()
      assert.deepEqual(await published(hub), [`sales.daily v${i + 1}: member-${name}`])
    }
  })
})

describe('what somebody else wrote', () => {
  outputStory('stands, and the workload is reported once', async ({ hub, world }) => {
    const before = await hub.create(aSource('by-hand', SALES))
    await succeeded(hub, 'default/daily')
    await world.settle()
    await reports(hub, DAILY, { member1: { ...completed(minute(1)), succeeded: 1 } })
    await world.settle()
    assert.deepEqual(await sources(hub), [before])
    const reported = [
      `NotPublished: "${SALES}" is not published: DataSource by-hand stands for it, which no workload made, and it is never changed. Have that DataSource deleted, or make data of another name.`,
    ]
    assert.deepEqual(await eventsOf(hub, 'default/daily'), reported)
    await world.restartControllers()
    await world.settle()
    assert.deepEqual(await eventsOf(hub, 'default/daily'), reported, 'a restart is no reason to say it again')
  })

  outputStory('makes room when it is deleted', async ({ hub, world }) => {
    await hub.create(aSource('by-hand', SALES))
    await succeeded(hub, 'default/daily')
    await world.settle()
    await hub.delete(DATA_SOURCES, 'by-hand')
    await world.settle()
    assert.deepEqual(await published(hub), ['sales.daily v1: member1'])
  })

  outputStory('does not stand in the way if it has attributes, or comes later', async ({ hub, world }) => {
    const attributed = aSource('by-hand', SALES)
    await hub.create({ ...attributed, spec: { ...(attributed.spec as object), attributes: { format: 'orc' } } })
    await succeeded(hub, 'default/daily')
    await world.settle()
    const later = await hub.create(aSource('later', SALES))
    await world.settle()
    assert.deepEqual(await published(hub), [
      'sales.daily undefined: elsewhere',
      'sales.daily undefined: elsewhere',
      'sales.daily v1: member1',
    ])
    assert.deepEqual(await hub.get(DATA_SOURCES, 'later'), later)
  })

  const takers: [string, string, Record<string, string>][] = [
    ['somebody', 'hive/table/other', {}],
    [
      'somebody who took our source over',
      'hive/table/other',
      { [PROVISIONED_BY]: 'output/jobs.batch/daily', [PRODUCER_NAMESPACE]: 'default' },
    ],
    ['another part', SALES, { [PROVISIONED_BY]: 'catalog/lake', [PRODUCER_NAMESPACE]: 'default' }],
    ['another namespace', SALES, { [PROVISIONED_BY]: 'output/jobs.batch/daily', [PRODUCER_NAMESPACE]: 'other' }],
  ]
  for (const [who, data, annotations] of takers)
    outputStory(`keeps the name that ours would have: ${who}`, async ({ hub, world }) => {
      const name = sourceObjectName(SALES_NAME, 'default')
      const before = await hub.create(aSource(name, data, annotations))
      await succeeded(hub, 'default/daily')
      await world.settle()
      assert.deepEqual(await sources(hub), [before])
      assert.deepEqual(await eventsOf(hub, 'default/daily'), [
        `NotPublished: "${SALES}" is not published: there is a DataSource ${name} that was not made for it here. Have it deleted, then it is made anew.`,
      ])
      await hub.delete(DATA_SOURCES, name)
      await world.settle()
      assert.deepEqual(await published(hub), ['sales.daily v1: member1'])
    })
})

describe('two namespaces that make the same', () => {
  const both = async (hub: WorldCluster, settle: () => Promise<void>): Promise<KubeObject> => {
    await succeeded(hub, 'other/theirs')
    await settle()
    const theirs = await theSource(hub)
    await succeeded(hub, 'default/daily', minute(3))
    await settle()
    return theirs
  }

  outputStory('get a source each, and the later one is reported without learning who', async ({ hub, world }) => {
    const theirs = await both(hub, () => world.settle())
    assert.deepEqual(await published(hub), ['sales.daily v1: member1', 'sales.daily v1: member1'])
    assert.deepEqual(await hub.get(DATA_SOURCES, theirs.metadata.name ?? ''), theirs)
    const [reported, ...more] = await eventsOf(hub, 'default/daily')
    assert.match(reported ?? '', /^AlsoMadeElsewhere: "hive\/table\/sales.daily" is made outside this namespace, too\./)
    assert.doesNotMatch(reported ?? '', /other\/|theirs|namespace other/)
    assert.equal(more.length, 1)
    assert.equal((await eventsOf(hub, 'other/theirs')).length, 1)
  })

  outputStory(
    'learn nothing about what they may not use',
    async ({ hub, world }) => {
      await both(hub, () => world.settle())
      assert.deepEqual(
        (await eventsOf(hub, 'default/daily')).map((event) => event.split(':')[0]),
        ['Published'],
      )
    },
    'grant',
  )
})

describe('a declaration that comes to nothing', () => {
  outputStory('by a workload without an end is reported once', async ({ hub, world }) => {
    await scheduled(hub, aDeployment('default/web', SALES))
    await reports(hub, 'default/web-deployment', { member1: { replicas: 1 } })
    await world.settle()
    await reports(hub, 'default/web-deployment', { member1: { replicas: 1, readyReplicas: 1 } })
    await world.settle()
    assert.deepEqual(await eventsOf(hub, 'default/web'), [
      'NeverFinishes: A Deployment has no end, so what sluice.dev/produces declares is never published. Let a Job make it, or remove the annotation.',
    ])
    await hub.delete(DEPLOYMENTS, 'default/web')
  })

  outputStory('by something of which no success is known is reported once', async ({ hub, world }) => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...aJob('default/map', SALES).metadata } }
    await scheduled(hub, map)
    await world.settle()
    const [reported, ...more] = await eventsOf(hub, 'default/map')
    assert.match(reported ?? '', /^NotPublished: It is not known when a ConfigMap of v1 has succeeded/)
    assert.deepEqual(more, [])
  })

  outputStory('because it cannot be read is reported once', async ({ hub, world }) => {
    await scheduled(hub, aJob('default/daily', 'sales'))
    await reports(hub, DAILY, { member1: completed(minute(1)) })
    await world.settle()
    const [reported, ...more] = await eventsOf(hub, 'default/daily')
    assert.match(reported ?? '', /^NotPublished: The annotation sluice.dev\/produces cannot be read: "sales" is not of the form/)
    assert.deepEqual(more, [])
    await annotate(hub, 'default/daily', SALES)
    await world.settle()
    assert.deepEqual(await published(hub), ['sales.daily v1: member1'])
  })

  outputStory('because the binding is not its own', async ({ hub, world }) => {
    const job = await hub.create(aJob('other/daily', SALES))
    const { namespace, name, uid } = job.metadata
    const forged = (where: string, resource: object): KubeObject => ({
      apiVersion: 'work.karmada.io/v1alpha2',
      kind: 'ResourceBinding',
      metadata: { namespace: where.split('/')[0], name: where.split('/')[1] },
      spec: { resource: { apiVersion: 'batch/v1', kind: 'Job', namespace, name, ...resource }, clusters: [{ name: 'member1' }] },
    })
    for (const [where, resource] of [
      ['default/daily-job', { uid }],
      ['other/another-job', { uid }],
      ['other/daily-job', { uid: 'of-a-former-one' }],
    ] as const) {
      const binding = forged(where, resource)
      await hub.create(forged(where, { ...resource, namespace: binding.metadata.namespace }))
      await changePastAdmission(hub, RESOURCE_BINDINGS, where, (one) => Object.assign(one, { spec: binding.spec }))
      await reports(hub, where, { member1: completed(minute(1)) })
    }
    await world.settle()
    assert.deepEqual(await sources(hub), [])
  })
})

const versionOf = (source: KubeObject): number => Number(source.metadata.annotations?.['sluice.dev/version']?.slice(1) ?? 0)

/** Beside what `atRest` says. */
const invariants: readonly Invariant[] = [
  {
    says: 'a source that no workload made is not changed, and stands alone',
    about: ['datasources'],
    broken(objects, { object, previous, isDeletion }) {
      const byHand = objects.get('datasources', 'by-hand')
      const isBeside =
        byHand !== undefined && objects.list('datasources').some((one) => fieldAt(one, 'spec', 'name') === 'stands' && one !== byHand)
      if (isBeside && byHand.metadata.name !== object.metadata.name) return 'another source of the same data was made'
      return object.metadata.name === 'by-hand' && previous !== undefined && !isDeletion ? 'it was changed' : undefined
    },
  },
  {
    says: 'another version is another run, and never an earlier one',
    about: ['datasources'],
    broken(_objects, { object, previous, isDeletion }) {
      if (isDeletion || previous === undefined || previous.metadata.uid !== object.metadata.uid) return undefined
      const isOther = previous.metadata.annotations?.['sluice.dev/run'] !== object.metadata.annotations?.['sluice.dev/run']
      return versionOf(object) - versionOf(previous) === (isOther ? 1 : 0)
        ? undefined
        : `v${versionOf(previous)} became v${versionOf(object)}`
    },
  },
]

survives(outputController(unconnected<OutputDeps>('output')), {
  role: 'hub',
  controllers: publishing(),
  modules: modulesWithData,
  steps: [
    async (hub) => {
      await scheduled(hub, aCronJob('default/nightly', `${SALES}, s3/prefix/lake`), { clusters: ['member1', 'member2'] })
      await scheduled(hub, aCronJob('default/hourly', SALES), { clusters: ['member3'] })
      await scheduled(hub, aJob('default/daily', 'hive/table/stands'))
      await hub.advance(TEN_MINUTES)
    },
    (hub) => reports(hub, 'default/nightly-cronjob', { member1: { lastSuccessfulTime: minute(1) } }),
    (hub) => reports(hub, 'default/hourly-cronjob', { member3: { lastSuccessfulTime: minute(2) } }),
    async (hub) => {
      await hub.create(aSource('by-hand', 'hive/table/stands'))
      await reports(hub, DAILY, { member1: completed(minute(2)) })
    },
    (hub) => hub.delete(DATA_SOURCES, sourceObjectName({ system: 's3', type: 'prefix', name: 'lake' }, 'default')),
    (hub) => hub.delete(DATA_SOURCES, 'by-hand'),
  ],
  invariants,
  async atRest(hub) {
    assert.deepEqual(await published(hub), ['lake v1: member1', 'sales.daily v2: member3', 'stands v1: member1'])
  },
})
