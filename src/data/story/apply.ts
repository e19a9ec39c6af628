/** Creates what the chapter is about, and removes what an earlier telling left. */
import type { Client } from '../../client/client.ts'
import { ifFound } from '../../client/errors.ts'
import { CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { JOBS, NAMESPACES, PERSISTENT_VOLUME_CLAIMS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { refOf } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import { StoryRefused } from '../../runtime/seams/story.ts'
import { dataset, FIRST_READER, guests, maker, reader, runtime, SECOND_READER, STORY_LABEL, STORY_NAME, source } from './manifests.ts'

const MANAGER = 'sluice-story'

export async function apply(client: Client, resource: Resource, object: KubeObject): Promise<void> {
  await client.apply(resource, object, { fieldManager: MANAGER, force: true })
}

/** Readers first. What is somebody else's is not touched: then the story is not told. */
export async function clear(client: Client): Promise<void> {
  const wanted: [Resource, KubeObject][] = [
    ...[maker(), reader(FIRST_READER), reader(SECOND_READER)].map((job): [Resource, KubeObject] => [JOBS, job]),
    // All that is in it goes with it.
    [NAMESPACES, guests()],
    [DATASETS, dataset()],
    [CACHE_RUNTIMES, runtime()],
    [PERSISTENT_VOLUME_CLAIMS, source()],
  ]
  const found: [Resource, KubeObject][] = []
  for (const [resource, object] of wanted) {
    const live = await ifFound(client.get(resource, refOf(object)))
    if (live === undefined) continue
    if (live.metadata.labels?.[STORY_LABEL] !== STORY_NAME) throw refusal(`${live.kind} ${live.metadata.name}`)
    found.push([resource, live])
  }
  for (const [resource, live] of found) await ifFound(client.delete(resource, refOf(live), { propagationPolicy: 'Foreground' }))
  if (found.length > 0) throw refusal('what an earlier telling left, which is being removed now,')
}

const refusal = (what: string): StoryRefused =>
  new StoryRefused(
    `the story cannot be told here: ${what} is in its way. Tell it on a new directory: sluice up --story ${STORY_NAME} --data-dir NEW`,
  )
