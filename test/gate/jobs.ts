/**
 * Jobs that end when a story says so. They are managed by somebody else than the Job controller, so that nothing in a member
 * writes their status, whether it has controllers or not.
 */
import assert from 'node:assert/strict'
import { JOBS } from '../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { aJob } from '../fleet/manifests.ts'
import type { Elsewhere, FleetTestbed, Place } from '../fleet/story.ts'

export function aReportedJob(name: string, annotations: Record<string, string> = {}): KubeObject {
  const job = aJob(name)
  return { ...job, metadata: { ...job.metadata, annotations }, spec: { ...(job.spec as object), managedBy: 'example.com/story' } }
}

export const succeeds = (testbed: FleetTestbed, place: Place, name: string, where?: Elsewhere): Promise<void> =>
  ends({ testbed, place, name, where }, (time) => ({
    completionTime: time,
    succeeded: 1,
    conditions: [condition('SuccessCriteriaMet', time), condition('Complete', time)],
  }))

export const fails = (testbed: FleetTestbed, place: Place, name: string): Promise<void> =>
  ends({ testbed, place, name }, (time) => ({ failed: 1, conditions: [condition('FailureTarget', time), condition('Failed', time)] }))

const condition = (type: string, time: string): Record<string, string> => ({
  type,
  status: 'True',
  reason: 'Told',
  message: 'the story says so',
  lastProbeTime: time,
  lastTransitionTime: time,
})

interface Ending {
  testbed: FleetTestbed
  place: Place
  name: string
  where?: Elsewhere | undefined
}

/** As soon as it is there, in the second in which it was created. */
async function ends({ testbed, place, name, where }: Ending, statusAt: (time: string) => object): Promise<void> {
  let time: string | undefined
  await testbed.until(`Job ${name} in ${place.name}`, async () => {
    time = (await place.get(JOBS, name, where))?.metadata.creationTimestamp ?? undefined
    return time !== undefined
  })
  assert.ok(time !== undefined)
  await place.patch(JOBS, name, { status: { startTime: time, ...statusAt(time) } }, { ...where, subresource: 'status' })
}
