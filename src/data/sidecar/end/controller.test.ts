import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { survives } from '../../../faultsim/survives.ts'
import { aWorld, type WorldCluster } from '../../../faultsim/world/index.ts'
import { fluidKinds } from '../../../kinds/fluid/index.ts'
import { EVENTS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { ContainerStatus, Event, Pod } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { defineModule } from '../../../runtime/module/module.ts'
import { otherModules } from '../../testing.ts'
import { sidecarEnd } from './controller.ts'
import { hasOldSidecar, leftSidecars } from './plan.ts'

const LABELS = {
  'serverless.fluid.io/inject': 'true',
  'done.sidecar.fluid.io/inject': 'true',
  'fluid.io/managed-by': 'fluid',
  'dataset-name.sidecar.fluid.io/fluid-fuse-0': 'demo',
  'dataset-namespace.sidecar.fluid.io/fluid-fuse-0': 'default',
}
const UMOUNT = ['umount', '/runtime-mnt/juicefs/default/demo/juicefs-fuse']

const aPod = (labels: Record<string, string> = {}, spec: Pod['spec'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'p', labels: { ...LABELS, ...labels } },
  spec: {
    restartPolicy: 'Never',
    nodeName: 'elsewhere',
    containers: [
      { name: 'fluid-fuse-0', image: 'i', lifecycle: { preStop: { exec: { command: UMOUNT } } } },
      { name: 'app', image: 'i' },
    ],
    ...spec,
  },
})
const running = (name: string): ContainerStatus => ({ name, state: { running: {} }, restartCount: 0 })
const ended = (name: string, exitCode = 0): ContainerStatus => ({ name, state: { terminated: { exitCode } }, restartCount: 0 })
const of = (containerStatuses: ContainerStatus[], more: Partial<Pod> = {}): Pod => ({
  ...aPod(),
  ...more,
  status: { phase: 'Running', containerStatuses },
})

describe('a sidecar that is left', () => {
  const left = (pod: Pod): string[] => leftSidecars(pod).map(({ container }) => container.name ?? '')
  const CASES: [string, Pod, string[]][] = [
    ['when the others have ended', of([running('fluid-fuse-0'), ended('app')]), ['fluid-fuse-0']],
    ['when they have failed for good', of([running('fluid-fuse-0'), ended('app', 1)]), ['fluid-fuse-0']],
    ['not while one runs', of([running('fluid-fuse-0'), running('app')]), []],
    ['not before one has started', of([running('fluid-fuse-0')]), []],
    ['not when it has ended', of([ended('fluid-fuse-0'), ended('app')]), []],
    [
      'not when one will be started again',
      of([running('fluid-fuse-0'), ended('app', 1)], { spec: { ...aPod().spec, restartPolicy: 'OnFailure' } }),
      [],
    ],
    ['not in a pod that goes', of([running('fluid-fuse-0'), ended('app')], { metadata: { deletionTimestamp: 'now' } }), []],
  ]
  for (const [says, pod, expected] of CASES) it(`is ended ${says}`, () => assert.deepEqual(left(pod), expected))

  const PODS_OF_NOBODY: [string, Pod][] = [
    ['runs for ever', aPod({}, { restartPolicy: 'Always' })],
    ['has nothing injected', aPod({ 'done.sidecar.fluid.io/inject': 'false' })],
    ['is not ours', aPod({ 'fluid.io/managed-by': 'me' })],
    ['has no privileges', aPod({ 'unprivileged.sidecar.fluid.io/inject': 'true' })],
    ['has native sidecars', aPod({}, { containers: [{ name: 'app', image: 'i' }] })],
  ]
  for (const [says, pod] of PODS_OF_NOBODY) it(`is none where the pod ${says}`, () => assert.equal(hasOldSidecar(pod), false))
  it('is one in the old form', () => assert.equal(hasOldSidecar(aPod()), true))
})

const endForTests = defineModule({
  name: 'end-for-tests',
  roles: ['member'],
  upstreamLeases: [],
  kinds: { member: fluidKinds },
  defaults: {},
  services: ({ clock }) => ({ clock }),
  controllers: ({ clock }) => [sidecarEnd({ clock })],
})
const modules = [...otherModules, endForTests]

/** A pod on a node that nobody plays: the test says how its containers are. */
async function begin(cluster: WorldCluster): Promise<void> {
  await cluster.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'elsewhere' } })
  await cluster.create(aPod())
}
const say = (cluster: WorldCluster, containerStatuses: ContainerStatus[]) =>
  cluster.patch(PODS, 'default/p', { status: { phase: 'Running', containerStatuses } }, 'status')
/** As data.volume makes it, as far as it matters here. */
const aVolume = (namespace: string, path: string): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `${namespace}-demo`, labels: { 'fluid.io/dataset-id': `${namespace}-demo` }, annotations: { CreatedBy: 'fluid' } },
    spec: {
      claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name: 'demo' },
      accessModes: ['ReadOnlyMany'],
      capacity: { storage: '1Gi' },
      csi: { driver: 'fuse.csi.fluid.io', volumeHandle: `${namespace}-demo`, volumeAttributes: { fluid_path: path } },
    },
  }) as KubeObject
const endings = (cluster: WorldCluster) => cluster.commands.calls.filter(({ command }) => command[0] === 'umount')

describe('the end of sidecars in the old form', () => {
  it('comes when nothing else runs, by their own command, which is tried again and reported until it works', async () => {
    const world = await aWorld({ hub: false, members: 1, modules }).settle()
    const { member } = world
    let isBusy = true
    member.commands.script(({ command }) =>
      command[0] === 'umount' ? (isBusy ? { exitCode: 32, stderr: 'target is busy' } : { exitCode: 0 }) : undefined,
    )
    await begin(member)
    await world.settle()
    assert.deepEqual(endings(member), [])
    await say(member, [running('fluid-fuse-0'), ended('app')])
    await world.advance(5000)
    assert.deepEqual(endings(member)[0]?.command, UMOUNT)
    const events = ((await member.list(EVENTS)) as Event[]).filter(({ reason }) => reason === 'SidecarNotEnded')
    assert.match(events[0]?.message ?? '', /container fluid-fuse-0 still runs, so the pod cannot end: .*exit code 32: target is busy/)
    isBusy = false
    await world.advance(60_000)
    const calls = endings(member).length
    assert.ok(calls > 1)
    await world.advance(60_000)
    assert.equal(endings(member).length, calls, 'done is done')
    assert.deepEqual(
      member.complaints.filter((complaint) => !complaint.includes('target is busy')),
      [],
    )
    await world.stop()
  })

  it('is by the volume of a dataset of its own namespace only: labels that name another one tell nothing of it', async () => {
    const world = await aWorld({ hub: false, members: 1, modules }).settle()
    const { member } = world
    member.commands.script(({ command }) => (command[0] === 'umount' ? { exitCode: 32, stderr: 'no such mount' } : undefined))
    for (const [namespace, path] of [
      ['default', UMOUNT[1]],
      ['secret', '/runtime-mnt/juicefs/secret/demo/juicefs-fuse'],
    ] as const)
      await member.create(aVolume(namespace, path ?? ''))
    await member.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'elsewhere' } })
    const containers = [
      { name: 'fluid-fuse-0', image: 'i' },
      { name: 'fluid-fuse-1', image: 'i' },
    ]
    const labels = { 'dataset-name.sidecar.fluid.io/fluid-fuse-1': 'demo', 'dataset-namespace.sidecar.fluid.io/fluid-fuse-1': 'secret' }
    await member.create(aPod(labels, { containers: [...containers, { name: 'app', image: 'i' }] }))
    await say(member, [...containers.map(({ name }) => running(name)), ended('app')])
    await world.advance(5000)
    assert.deepEqual(
      [...new Set(endings(member).map(({ container, command }) => `${container} ${command.join(' ')}`))],
      [`fluid-fuse-0 ${UMOUNT.join(' ')}`],
    )
    const events = (await member.list(EVENTS)) as Event[]
    assert.ok(events.some(({ reason }) => reason === 'SidecarNotEnded'))
    assert.ok(!JSON.stringify(events).includes('secret'))
    await world.stop()
  })

  survives(sidecarEnd({ clock: { now: () => 0, after: () => () => undefined } }), {
    modules,
    steps: [
      async (cluster) => {
        cluster.commands.script(({ command }) => (command[0] === 'umount' ? { exitCode: 0 } : undefined))
        await begin(cluster)
      },
      (cluster) => say(cluster, [running('fluid-fuse-0'), ended('app')]),
    ],
    outside: (cluster) => endings(cluster).length > 0,
  })
})
