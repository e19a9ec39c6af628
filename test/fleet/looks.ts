/** What stories look for in members, each with the words of its failure. */
import type { Resource } from '../../src/client/resource.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { FleetStage, Place } from './story.ts'

const namesOf = (places: readonly Place[]): string => places.map(({ name }) => name).join(', ')

/** Until each of these members has it, as wanted. */
export function reaches<T extends KubeObject>(
  stage: FleetStage,
  resource: Resource<T>,
  name: string,
  places: readonly Place[],
  isAsWanted: (object: T) => boolean = () => true,
): Promise<void> {
  return stage.until(`${resource.kind} ${name} in ${namesOf(places)}, as wanted`, async () => {
    for (const place of places) {
      const object = await place.get(resource, name)
      if (object === undefined || !isAsWanted(object)) return false
    }
    return true
  })
}

/** Until none of these members has it (any more). */
export function leaves(stage: FleetStage, resource: Resource, name: string, places: readonly Place[]): Promise<void> {
  return stage.until(`no ${resource.kind} ${name} in ${namesOf(places)}`, async () => {
    for (const place of places) if ((await place.get(resource, name)) !== undefined) return false
    return true
  })
}
