/** What users see of sidecars on a process node: the pod is created whole, waits for its files, and its end is that of its own containers. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { machineOf, processNodes } from '../../faultsim/builders/process-nodes.ts'
import { story } from '../../faultsim/story.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { fluidKinds } from '../../kinds/fluid/index.ts'
import { DATASETS } from '../../kinds/fluid/resources.ts'
import { JOBS, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Job, Pod } from '../../kinds/kubernetes/types.ts'
import { defineModule } from '../../runtime/module/module.ts'
import { aDataset } from '../locality/testing.ts'
import { otherModules } from '../testing.ts'
import { datasetSidecar } from './admission.ts'
import type { SidecarMode } from './mode.ts'
import { aPod, bound, filesClient } from './testing.ts'

const modulesFor = (mode: SidecarMode) => [
  ...otherModules,
  defineModule<object, object>({
    name: 'sidecar',
    roles: ['member'],
    kinds: { member: fluidKinds },
    upstreamLeases: [],
    defaults: {},
    services: () => ({}),
    controllers: () => [],
    seams: { podAdmissions: () => [datasetSidecar({ mode })] },
  }),
]

/** A client without the volumes that only a real one needs. */
const client = filesClient('demo', { container: { command: ['fill'], volumeMounts: [] } })

async function bind(member: WorldCluster): Promise<void> {
  for (const object of bound('demo', client)) await member.create(object)
  await member.patch(DATASETS, 'default/demo', { status: aDataset('default/demo').status }, 'status')
}

function aJob(): Job {
  const { metadata, spec } = aPod(['demo'], { restartPolicy: 'Never', automountServiceAccountToken: false })
  const [container] = spec?.containers ?? []
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace: 'default', name: 'reader' },
    spec: { template: { metadata: { labels: metadata.labels }, spec: { ...spec, containers: [{ ...container, command: ['read'] }] } } },
  }
}

const jobIn = async (member: WorldCluster): Promise<Job | undefined> => (await member.get(JOBS, 'default/reader')) as Job | undefined
const podIn = async (member: WorldCluster): Promise<Pod | undefined> => ((await member.list(PODS)) as Pod[])[0]

describe('a Job with a sidecar', () => {
  let isComplete = false
  const world = (mode: SidecarMode) => ({
    hub: false,
    members: 1,
    modules: modulesFor(mode),
    controllers: processNodes({
      fill: { exec: { test: () => ({ exitCode: isComplete ? 0 : 1 }) }, ...(mode === 'container' ? { runMs: 1000 } : {}) },
      read: { runMs: 1000 },
    }),
  })
  const started = (member: WorldCluster): string =>
    machineOf(member)
      .specs.map(({ container }) => container)
      .join()

  story(
    'starts when its files are there, and completes although the sidecar would run on',
    async (w) => {
      isComplete = false
      await bind(w.member)
      await w.member.create(aJob())
      await w.advance(20_000)
      assert.equal(started(w.member), 'fluid-fuse-0')
      assert.equal((await podIn(w.member))?.status?.phase, 'Pending')
      isComplete = true
      await w.advance(20_000)
      assert.equal(started(w.member), 'fluid-fuse-0,c')
      assert.equal((await jobIn(w.member))?.status?.succeeded, 1)
      assert.equal((await podIn(w.member))?.status?.phase, 'Succeeded')
    },
    world('native-sidecar'),
  )

  story(
    'starts after the files in the old form, too, and nothing is left to be ended',
    async (w) => {
      await bind(w.member)
      await w.member.create(aJob())
      await w.advance(30_000)
      assert.equal(started(w.member), 'init-fluid-fuse-0,c')
      assert.equal((await jobIn(w.member))?.status?.succeeded, 1)
    },
    world('container'),
  )
})
