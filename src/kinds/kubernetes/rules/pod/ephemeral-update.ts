/** The ephemeralcontainers subresource: containers can be added, and nothing else of the pod changes through it. */
import { type FieldError, forbidden } from '../../../../kube/field-error.ts'
import { objects, string } from '../fields.ts'
import { isMirrorPod } from './annotations.ts'
import { podErrors } from './create.ts'
import { internalDiff } from './internal-json.ts'
import type { PodOptions, SpecAndMeta } from './options.ts'
import { semanticEqual } from './semantic.ts'
import { annotationErrors } from './update.ts'

export function ephemeralContainerErrors(pod: SpecAndMeta, old: SpecAndMeta, options: PodOptions): FieldError[] {
  if (isMirrorPod(old.metadata)) return [forbidden('[]', 'static pods do not support ephemeral containers')]
  const errors = [...podErrors(pod, options), ...annotationErrors(pod, old, options)]
  const next = new Map(objects(pod.spec, 'ephemeralContainers').map((container) => [string(container, 'name'), container]))
  for (const before of objects(old.spec, 'ephemeralContainers')) {
    const name = JSON.stringify(string(before, 'name'))
    const after = next.get(string(before, 'name'))
    if (after === undefined)
      errors.push(forbidden('spec.ephemeralContainers', `existing ephemeral containers ${name} may not be removed\n`))
    else if (!semanticEqual(before, after)) {
      const diff = internalDiff('EphemeralContainer', before, after)
      errors.push(forbidden('spec.ephemeralContainers', `existing ephemeral containers ${name} may not be changed\n${diff}`))
    }
  }
  return errors
}
