/**
 * Updating a pod in place: possible when its template differs only in images of containers, labels and annotations. The node
 * then starts the changed containers again; until it has, the pod counts as unavailable, whatever its conditions still say.
 * Pure. What ran before is noted in an annotation of the pod, so that a restart of this program forgets nothing.
 */
import { deepEqual, isJsonObject } from '../../base/json.ts'
import type { Container, Pod, PodTemplateSpec } from '../../kinds/kubernetes/types.ts'
import { REVISION_LABEL } from '../../runtime/workloads/revision/history.ts'
import type { Version } from '../../runtime/workloads/stateful-set/identity.ts'

/** OpenKruise's note; the container's id is an addition, because two images can have the same id. */
const STATE_ANNOTATION = 'workload.fluid.io/inplace-update-state'

type Texts = Readonly<Record<string, string>>

export type Change = { isPossible: true; images: ReadonlyMap<string, string>; from: PodTemplateSpec } | { isPossible: false; why: string }

/** What has to change between two templates, or why that cannot be done in place. */
export function changeBetween(from: PodTemplateSpec | undefined, to: PodTemplateSpec | undefined): Change {
  const no = (why: string): Change => ({ isPossible: false, why })
  if (from === undefined || to === undefined) return no('the revision that they were made from no longer exists')
  if (!deepEqual(withoutMutable(from), withoutMutable(to)))
    return no('the template differs in more than images of containers, labels and annotations')
  if ((to.spec?.restartPolicy ?? 'Always') !== 'Always') return no('the restart policy does not let containers start again')
  const stale = environmentPaths(to).find((path) => metadataAt(from, path) !== metadataAt(to, path))
  if (stale !== undefined) return no(`a container reads ${stale} into its environment`)
  const images = new Map<string, string>()
  for (const [i, { name = '', image = '' }] of containersOf(to).entries())
    if ((containersOf(from)[i]?.image ?? '') !== image) images.set(name, image)
  return { isPossible: true, images, from }
}

/** A template is not checked by every server that stores it: what has another form than it should counts as absent. */
const listOf = <T>(list: readonly T[] | undefined): readonly T[] =>
  Array.isArray(list) ? list.filter((item: T) => isJsonObject(item)) : []

const containersOf = (template: PodTemplateSpec): readonly Container[] => listOf(template.spec?.containers)

function withoutMutable(template: PodTemplateSpec): unknown {
  const { metadata, spec, ...rest } = template
  const { labels: _labels, annotations: _annotations, ...fixed } = metadata ?? {}
  return {
    ...rest,
    metadata: fixed,
    spec: { ...spec, containers: containersOf(template).map(({ image: _image, ...container }) => container) },
  }
}

/** Labels and annotations that containers got as environment when they started: `metadata.labels['zone']`. */
function environmentPaths({ spec }: PodTemplateSpec): string[] {
  const all = [...listOf(spec?.containers), ...listOf(spec?.initContainers)]
  return all.flatMap(({ env }) => listOf(env).map(({ valueFrom }) => valueFrom?.fieldRef?.fieldPath ?? '')).filter((path) => path !== '')
}

function metadataAt({ metadata }: PodTemplateSpec, path: string): string | undefined {
  const [, field, key = ''] = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path) ?? []
  const held = field === 'labels' ? metadata?.labels : field === 'annotations' ? metadata?.annotations : undefined
  return isJsonObject(held) && Object.hasOwn(held, key) ? held[key] : undefined
}

/** The merge patch that brings a pod to a version. What others have added to the pod stays. */
export function inPlacePatch(pod: Pod, { images, from }: Change & { isPossible: true }, to: Version): Record<string, unknown> {
  const { metadata } = to.template ?? {}
  const labels = { ...changes(from.metadata?.labels, metadata?.labels), [REVISION_LABEL]: to.name }
  const annotations = changes(from.metadata?.annotations, metadata?.annotations)
  if (images.size === 0) return { metadata: { labels, annotations } }
  const containers = (pod.spec?.containers ?? []).map((one) => ({ ...one, image: images.get(one.name ?? '') ?? one.image }))
  return { metadata: { labels, annotations: { ...annotations, [STATE_ANNOTATION]: noteOf(pod, images, to.name) } }, spec: { containers } }
}

/** Null where a key is to go. */
function changes(before: Texts | undefined, after: Texts | undefined): Record<string, string | null> {
  const [from, to] = [before ?? {}, after ?? {}]
  const changed = Object.entries(to).filter(([key, value]) => !Object.hasOwn(from, key) || from[key] !== value)
  const gone = Object.keys(from).filter((key) => !Object.hasOwn(to, key))
  return Object.fromEntries([...changed, ...gone.map((key) => [key, null] as const)])
}

function noteOf(pod: Pod, images: ReadonlyMap<string, string>, revision: string): string {
  const ran = (pod.status?.containerStatuses ?? []).filter(({ name = '' }) => images.has(name))
  const lastContainerStatuses = Object.fromEntries(ran.map(({ name = '', imageID, containerID }) => [name, { imageID, containerID }]))
  return JSON.stringify({ revision, lastContainerStatuses })
}

/** Whether a container that is to start again still is the one from before. */
export function isUpdating(pod: Pod): boolean {
  const note = pod.metadata.annotations?.[STATE_ANNOTATION]
  if (note === undefined) return false
  const last = statusesIn(note)
  return (pod.status?.containerStatuses ?? []).some(({ name = '', image, containerID }) => {
    const before = Object.hasOwn(last, name) ? last[name] : undefined
    // A node that does not say which container runs cannot be waited for.
    if (!isJsonObject(before) || before.containerID === undefined || before.containerID !== containerID) return false
    return image !== pod.spec?.containers?.find((container) => container.name === name)?.image
  })
}

/** Anybody may have written it: what is not a note says nothing. */
function statusesIn(note: string): Record<string, unknown> {
  try {
    const state: unknown = JSON.parse(note)
    const statuses = isJsonObject(state) && Object.hasOwn(state, 'lastContainerStatuses') ? state.lastContainerStatuses : undefined
    return isJsonObject(statuses) ? statuses : {}
  } catch {
    return {}
  }
}
