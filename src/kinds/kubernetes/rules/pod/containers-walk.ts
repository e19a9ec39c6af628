/** Visiting the containers of a pod spec. */
import { type Fields, objects } from '../fields.ts'

/** Every container with its path, in the order the real server visits them: init, regular, ephemeral. */
export function allContainers(spec: Fields | undefined, path = ''): { container: Fields; path: string }[] {
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap((key) =>
    objects(spec, key).map((container, i) => ({ container, path: `${path}.${key}[${i}]` })),
  )
}
