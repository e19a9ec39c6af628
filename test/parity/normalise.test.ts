import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Event, Pod, ReplicaSet } from '../../src/kinds/kubernetes/types.ts'
import { comparable, comparableEvents } from './normalise.ts'

const pod = (metadata: Pod['metadata'], rest: Partial<Pod> = {}): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata, ...rest })

describe('what two runs saw', () => {
  it('is the same when only names that were drawn, times and places differ', () => {
    const one = pod(
      { name: 'web-7c9d8f6b5d-x7k2f', uid: 'a', labels: { 'pod-template-hash': '7c9d8f6b5d' }, creationTimestamp: '2026-01-01T00:00:00Z' },
      { spec: { containers: [], nodeName: 'member1-simulated-1' }, status: { phase: 'Running', podIP: '10.0.0.1' } },
    )
    const other = pod(
      { name: 'web-5b6c7d8f9g-zzzzz', uid: 'b', labels: { 'pod-template-hash': '5b6c7d8f9g' }, creationTimestamp: '2027-01-01T00:00:00Z' },
      { spec: { containers: [], nodeName: 'node-1' }, status: { phase: 'Running', podIP: '10.9.0.1' } },
    )
    assert.deepEqual(comparable(one), comparable(other))
  })

  it('is not the same when a label, a condition or what was asked for differs', () => {
    const one = pod({ name: 'a', labels: { app: 'web' } }, { spec: { containers: [{ name: 'main', image: 'app:1' }] } })
    const differ = [
      pod({ name: 'a', labels: { app: 'db' } }, { spec: one.spec }),
      pod({ name: 'a', labels: { app: 'web' } }, { spec: { containers: [{ name: 'main', image: 'app:2' }] } }),
      pod({ name: 'a', labels: { app: 'web' }, finalizers: ['x'] }, { spec: one.spec }),
      { ...one, status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'why' }] } },
      { ...one, status: { conditions: [{ type: 'Ready', status: 'True' }] } },
    ]
    for (const other of differ) assert.notDeepEqual(comparable(one), comparable(other))
  })

  it('tells whether a replica set is up to date, not in how many steps', () => {
    const set = (generation: number, observedGeneration: number): ReplicaSet => ({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'web', generation, ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u' }] },
      status: { replicas: 1, observedGeneration },
    })
    assert.deepEqual(comparable(set(2, 2)), comparable(set(4, 4)))
    assert.notDeepEqual(comparable(set(2, 1)), comparable(set(4, 4)))
  })

  it('has each event once, without those of nodes', () => {
    const event = (component: string, message: string): Event => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: message },
      involvedObject: { kind: 'Job', name: 'tick-29453761' },
      type: 'Normal',
      reason: 'SuccessfulCreate',
      message,
      source: { component },
    })
    const events = [event('job-controller', 'Created pod: tick-29453761-bbbbb'), event('kubelet', 'started')]
    assert.deepEqual(comparableEvents([...events, ...events]), [
      'job-controller: Normal SuccessfulCreate Job/tick-<minute>: Created pod: tick-<minute>-#',
    ])
  })

  it('leaves out a deletion that is cancelled after it was carried out, and no other', () => {
    const event = (message: string, pod: string): Event => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: message },
      involvedObject: { kind: 'Pod', name: pod },
      type: 'Normal',
      reason: 'TaintManagerEviction',
      message: `${message} Pod ns/${pod}`,
      source: { component: 'taint-eviction-controller' },
    })
    const reported = comparableEvents([
      event('Marking for deletion', 'a'),
      event('Cancelling deletion of', 'a'),
      event('Cancelling deletion of', 'b'),
    ])
    assert.deepEqual(
      reported.map((text) => text.split(': ').at(-1)),
      ['Marking for deletion Pod ns/a', 'Cancelling deletion of Pod ns/b'],
    )
  })
})
