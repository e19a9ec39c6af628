import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../../client/client.ts'
import { createVirtualClock } from '../../faultsim/world/virtual-clock.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { Job, Pod } from '../../kinds/kubernetes/types.ts'
import { figuresIn } from './cache.ts'
import { dataChapter } from './chapter.ts'
import type { DataSnapshot } from './snapshot.ts'
import { dataStory } from './steps.ts'

const NOTHING: DataSnapshot = { dataset: undefined, runtime: undefined, jobs: [], pods: [] }
const client = {} as Client
const env = { members: [{ name: 'a', client }], clock: createVirtualClock(0), signal: new AbortController().signal }
const stepOf = (name: string) => {
  const found = dataStory(env).find((step) => step.name === name)
  assert.ok(found !== undefined, `there is no step ${name}`)
  return found
}

const aWorker = (i: number, status = 'True'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `film-worker-${i}`, labels: { 'cacheruntime.fluid.io/component-name': 'film-worker' } },
  status: { conditions: [{ type: 'Ready', status }] },
})
const podFor = (job: string, status = 'True'): Pod => ({
  ...aWorker(0, status),
  metadata: { name: `${job}-x`, labels: { 'batch.kubernetes.io/job-name': job } },
})
const aRuntime = (readyReplicas: number) => ({ status: { worker: { readyReplicas } } }) as DataSnapshot['runtime']
const filled = (cached: string): DataSnapshot => ({
  ...NOTHING,
  dataset: { status: { ufsTotal: '48.00MiB', cacheStates: { cached, cachedPercentage: '100.0%' } } } as unknown as Dataset,
  pods: [aWorker(0), aWorker(1)],
})

describe('the chapter about data', () => {
  it('says how much of what is cached, and that copies are copies', () => {
    const step = stepOf('the cache fills')
    const said = (cached: string): string | undefined => step.sees(filled(cached))?.says.replace(/^█+ /, '')
    assert.equal(said('48.00MiB'), '100.0% cached of 48.00MiB')
    assert.equal(said('76.00MiB'), '100.0% cached of 48.00MiB, some of it twice: the workers hold 76.00MiB')
    assert.equal(step.sees({ ...filled('48.00MiB'), pods: [aWorker(0), aWorker(1, 'False')] }), undefined, 'a worker is missing')
  })

  it('takes a Job of the second namespace for having read only when it has succeeded', () => {
    const step = stepOf('screen reads the same bytes')
    const job = (status: string) => ({ metadata: { name: 'screen' }, status: { conditions: [{ type: 'Complete', status }] } }) as Job
    assert.equal(step.sees({ ...NOTHING, jobs: [job('False')] }), undefined)
    assert.match(step.sees({ ...NOTHING, jobs: [job('True')] })?.says ?? '', /cinema mounts dataset:\/\/default\/film: .* the same bytes/)
  })

  it('scales in only when both workers are there and a pod reads', () => {
    const step = stepOf('a reader stays')
    const [reader, late] = [podFor('screen-all-day'), podFor('screen-all-day', 'False')]
    assert.equal(step.sees({ ...NOTHING, pods: [aWorker(0), aWorker(1), late] }), undefined)
    assert.equal(step.sees({ ...NOTHING, pods: [aWorker(0), aWorker(1, 'False'), reader] }), undefined)
    assert.match(step.sees({ ...NOTHING, pods: [aWorker(0), aWorker(1), reader] })?.says ?? '', /both workers are ready/)
  })

  it('knows one worker when the pods and the runtime say so', () => {
    const step = stepOf('the cache is scaled in')
    assert.equal(step.sees({ ...NOTHING, runtime: aRuntime(1), pods: [aWorker(0), aWorker(1)] }), undefined)
    assert.equal(step.sees({ ...NOTHING, runtime: aRuntime(2), pods: [aWorker(0)] }), undefined)
    assert.equal(step.sees({ ...NOTHING, runtime: aRuntime(1), pods: [aWorker(0)] })?.who, 'cache')
  })

  it('counts what workers that serve have read, and not those that are gone', () => {
    const worker = (state: string, servedBytes: number, sourceBytes: number) => ({ pod: 'x', state, servedBytes, sourceBytes })
    const workers = [worker('serving', 5, 3), worker('serving', 7, 0), worker('gone', 100, 100)]
    assert.deepEqual(figuresIn(JSON.stringify({ workers })), { served: 12, source: 3 })
    assert.throws(() => figuresIn('not a report'), SyntaxError)
  })

  it('needs a member, and process nodes', () => {
    assert.match(dataChapter.hindrance({ members: 0, runsProcesses: true }) ?? '', /needs a member/)
    assert.match(dataChapter.hindrance({ members: 1, runsProcesses: false }) ?? '', /process nodes/)
    assert.equal(dataChapter.hindrance({ members: 1, runsProcesses: true }), undefined)
  })
})
