import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../../client/client.ts'
import type { Cluster, ResourceBinding } from '../../kinds/karmada/index.ts'
import type { Job, Pod } from '../../kinds/kubernetes/types.ts'
import type { DataSource } from '../../kinds/volcano/index.ts'
import { HELD_BECAUSE } from '../../runtime/seams/narrowing.ts'
import { gateChapter } from './chapter.ts'
import { EARLY_READER, LATE_READER, MAKER } from './manifests.ts'
import { complaintOf, type GateSnapshot, hasSucceeded, heldBecause, isReady, placeOf, podOf } from './snapshot.ts'
import { gateStory } from './steps.ts'

const NOTHING: GateSnapshot = { clusters: [], bindings: [], jobs: [], source: undefined, pods: {} }

const aCluster = (name: string, status: string): Cluster =>
  ({ metadata: { name }, spec: {}, status: { conditions: [{ type: 'Ready', status }] } }) as unknown as Cluster
const bindingOf = (job: string, { because, clusters = [] }: { because?: string; clusters?: string[] }): ResourceBinding =>
  ({
    metadata: { name: `${job}-job`, annotations: because === undefined ? {} : { [HELD_BECAUSE]: because } },
    spec: { clusters: clusters.map((name) => ({ name })) },
  }) as unknown as ResourceBinding
const jobOf = (name: string, status: string): Job => ({ metadata: { name }, status: { conditions: [{ type: 'Complete', status }] } }) as Job
const podFor = (job: string, phase: string, more: object = {}): Pod =>
  ({ metadata: { name: `${job}-x`, labels: { 'batch.kubernetes.io/job-name': job } }, status: { phase, ...more } }) as unknown as Pod
const sourceIn = (cluster: string): DataSource => ({ spec: { locality: { clusterNames: [cluster] } } }) as unknown as DataSource

const hub = {} as Client
const env = { hub, members: ['a', 'b'].map((name) => ({ name, client: hub })), stop: async () => undefined, start: async () => undefined }
const stepsOf = () => gateStory(env)
const stepOf = (name: string) => stepsOf().find((step) => step.name === name)

describe('what the chapter sees', () => {
  it('knows which clusters are ready, where the data is, and which Jobs have succeeded', () => {
    const snapshot = {
      ...NOTHING,
      clusters: [aCluster('a', 'True'), aCluster('b', 'False')],
      source: sourceIn('b'),
      jobs: [jobOf('x', 'True'), jobOf('y', 'False')],
    }
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => isReady(snapshot, name)),
      [true, false, false],
    )
    assert.deepEqual([placeOf(snapshot), placeOf(NOTHING)], ['b', undefined])
    assert.deepEqual(
      ['x', 'y', 'z'].map((name) => hasSucceeded(snapshot, name)),
      [true, false, false],
    )
  })

  it('finds the pod that has succeeded, and its member', () => {
    const pods = { a: [podFor('x', 'Failed')], b: [podFor('y', 'Succeeded'), podFor('x', 'Succeeded')] }
    assert.deepEqual(podOf({ ...NOTHING, pods }, 'x'), { member: 'b', pod: 'x-x' })
    assert.equal(podOf(NOTHING, 'x'), undefined)
  })

  it('names what hinders a Job, as far as anybody says it', () => {
    const waiting = { containerStatuses: [{ state: { waiting: { reason: 'CreateContainerError', message: 'no namespaces here' } } }] }
    const placed = { ...NOTHING, bindings: [bindingOf('x', { clusters: ['a'] })] }
    assert.equal(complaintOf(NOTHING, 'x'), 'x has no cluster')
    assert.equal(complaintOf({ ...NOTHING, bindings: [bindingOf('x', { because: 'no data' })] }, 'x'), 'x is held: no data')
    assert.equal(complaintOf(placed, 'x'), 'x is to run in a, and has no pod there')
    assert.equal(
      complaintOf({ ...placed, pods: { a: [podFor('x', 'Pending', waiting)] } }, 'x'),
      'pod x-x of a is Pending: no namespaces here',
    )
    assert.equal(heldBecause(placed, 'x'), undefined)
  })
})

describe('the steps', () => {
  it('begin when clusters are ready and nothing is left of an earlier telling', () => {
    const [first] = stepsOf()
    const ready = { ...NOTHING, clusters: [aCluster('a', 'True'), aCluster('b', 'True')] }
    assert.equal(first?.sees(NOTHING), undefined)
    assert.equal(first?.missing(NOTHING), 'a, b not ready')
    assert.equal(first?.sees({ ...ready, bindings: [bindingOf(LATE_READER, {})] }), undefined)
    assert.equal(first?.sees({ ...ready, source: sourceIn('a') }), undefined)
    assert.equal(first?.sees(ready)?.says, 'a, b are ready')
  })

  it('show why a Job waits, in the words of its binding', () => {
    const because = 'claim clicks: Job default/collect makes it, and is running'
    const snapshot = { ...NOTHING, bindings: [bindingOf(EARLY_READER, { because })] }
    const step = stepOf(`${EARLY_READER} waits for ${MAKER}`)
    assert.deepEqual(step?.sees(snapshot)?.more, [`${EARLY_READER} waits: ${because}`])
    assert.equal(step?.sees({ ...NOTHING, bindings: [bindingOf(EARLY_READER, { because: 'nobody makes it' })] }), undefined)
    assert.equal(step?.sees({ ...NOTHING, source: sourceIn('a') })?.more, undefined, 'it was quicker than anybody could look')
  })

  it('take a Job for having read the data only where the data was made', () => {
    const step = stepOf(`${EARLY_READER} reads the same bytes`)
    const jobs = [jobOf(EARLY_READER, 'True')]
    const [made, read] = [podFor(MAKER, 'Succeeded'), podFor(EARLY_READER, 'Succeeded')]
    assert.equal(step?.sees({ ...NOTHING, jobs, pods: { a: [made], b: [read] } }), undefined)
    assert.equal(step?.sees({ ...NOTHING, pods: { a: [made, read] } }), undefined)
    assert.match(step?.sees({ ...NOTHING, jobs, pods: { a: [made, read] } })?.says ?? '', /was sent to a/)
  })
})

describe('the chapter', () => {
  it('needs two members and process nodes', () => {
    assert.match(gateChapter.hindrance({ members: 1, runsProcesses: true }) ?? '', /needs 2 members, and there is 1$/)
    assert.match(gateChapter.hindrance({ members: 2, runsProcesses: false }) ?? '', /process nodes/)
    assert.equal(gateChapter.hindrance({ members: 2, runsProcesses: true }), undefined)
  })
})
