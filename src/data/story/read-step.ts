/** A step in which a Job reads the dataset, and must have read what was written. */
import type { Client } from '../../client/client.ts'
import { JOBS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { StoryRefused, type StoryStep } from '../../runtime/seams/story.ts'
import { apply } from './apply.ts'
import { logOf } from './cache.ts'
import { MAKER } from './manifests.ts'
import { complaintOf, type DataSnapshot, hasSucceeded, podOfJob } from './snapshot.ts'

export interface Reading {
  job: KubeObject
  before?(): Promise<void>
  says(snapshot: DataSnapshot): string
  /** Printed beneath the checksum. */
  more?(): Promise<readonly string[]>
}

export function readStep(client: Client, { job, before, says, more }: Reading): StoryStep<DataSnapshot> {
  const name = job.metadata.name ?? ''
  return {
    name: `${name} reads the same bytes`,
    async act() {
      await before?.()
      await apply(client, JOBS, job)
    },
    sees: (snapshot) => (hasSucceeded(snapshot, name) ? { who: 'pods', says: says(snapshot) } : undefined),
    missing: (snapshot) => complaintOf(snapshot, name),
    async beneath(snapshot) {
      const [sum = ''] = await sumsOf(client, podOfJob(snapshot, MAKER), podOfJob(snapshot, name))
      return [`sha256 ${sum.split(' ')[0]}`, ...((await more?.()) ?? [])]
    },
  }
}

/** The checksums that a pod has printed: all are the one of what was written. */
export async function sumsOf(client: Client, maker: Pod | undefined, reader: Pod | undefined): Promise<string[]> {
  const [made, read] = [await logOf(client, maker), await logOf(client, reader)]
  const sums = read.split('\n')
  if (made === '' || sums.some((sum) => sum !== made))
    throw new StoryRefused(`${reader?.metadata.name ?? 'a pod'} has read ${read}, and ${MAKER} has written ${made}`)
  return sums
}
