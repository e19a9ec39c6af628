/** Admission of ResourceBinding and ClusterResourceBinding. */
import { child, type FieldError, index, invalid } from '../../../kube/field-error.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Admission, defineAdmission } from '../../admission.ts'
import { overreachOf } from '../binding-reach.ts'
import type { BindingComponent } from '../binding-schema.ts'
import type { Binding } from '../index.ts'
import { GROUPS } from '../kube-schemas.ts'
import { CLUSTER_RESOURCE_BINDING_ID, DEPENDENCIES_ANNOTATION, RESOURCE_BINDING_ID } from '../well-known.ts'
import { isBeingDeleted, setMissingLabel } from './metadata.ts'
import { renamePurgeModes } from './purge-modes.ts'

const IDS: Readonly<Record<string, string>> = {
  resourcebindings: RESOURCE_BINDING_ID,
  clusterresourcebindings: CLUSTER_RESOURCE_BINDING_ID,
}

export const bindingAdmission: Admission = defineAdmission({
  name: 'ResourceBinding',
  about: 'Gives every binding its permanent id, refuses objects of other namespaces, and dependencies and components that cannot be read.',
  resources: Object.keys(IDS).map((resource) => ({ group: GROUPS.work, resource })),
  operations: ['CREATE', 'UPDATE'],
  mutate({ object, operation, resource }, { newUid }) {
    const id = IDS[resource]
    if (object === undefined || id === undefined) return
    if (operation === 'CREATE') setMissingLabel(object, id, newUid)
    renamePurgeModes(object.spec)
  },
  validate: ({ object }) =>
    object === undefined || isBeingDeleted(object)
      ? undefined
      : [
          ...reachErrors(object as Binding),
          ...dependenciesErrors(object),
          ...componentErrors('spec.components', (object as Binding).spec.components ?? []),
        ],
})

function reachErrors(binding: Binding): FieldError[] {
  const why = overreachOf(binding)
  return why === undefined ? [] : [invalid('spec.resource.namespace', binding.spec.resource.namespace ?? '', why)]
}

function dependenciesErrors({ metadata }: KubeObject): FieldError[] {
  const dependencies = metadata.annotations?.[DEPENDENCIES_ANNOTATION]
  if (dependencies === undefined || isListOfObjects(dependencies)) return []
  return [invalid(child('metadata.annotations', DEPENDENCIES_ANNOTATION), dependencies, 'annotation value must be a valid JSON')]
}

function isListOfObjects(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return value === null || (Array.isArray(value) && value.every((item) => typeof item === 'object' && !Array.isArray(item)))
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

function componentErrors(path: string, components: readonly BindingComponent[]): FieldError[] {
  const seen = new Set<string>()
  return components.flatMap(({ name }, i) => {
    const at = child(index(path, i), 'name')
    if (name === '') return [invalid(at, name, 'component names must be non-empty')]
    if (seen.has(name)) return [invalid(at, name, 'component names must be unique')]
    seen.add(name)
    return []
  })
}
