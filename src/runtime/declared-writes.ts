/**
 * A controller writes what it has declared and nothing else: access rules are generated from the declarations, so a write
 * that is missing there would work here and be refused on a cluster. Checked on every write, for the cost of a look-up.
 */
import { EVERY_RESOURCE } from '../client/builtin-resources.ts'
import { keyOfResource } from '../client/resource.ts'
import type { Access, Action } from './controller.ts'

/** Returns what is wrong with an action, undefined when it is declared. */
export type DeclaredCheck = (action: Action) => string | undefined

const VERBS: Record<Action['do'], string> = {
  apply: 'patch',
  create: 'create',
  patch: 'patch',
  update: 'update',
  post: 'create',
  delete: 'delete',
  'delete-collection': 'deletecollection',
}

export function declaredCheck(controller: string, writes: readonly Access[]): DeclaredCheck {
  const declared = new Set(
    writes.flatMap(({ resource, subresource = '', verbs }) => verbs.map((verb) => `${keyOfResource(resource)} ${subresource} ${verb}`)),
  )
  return (action) => {
    const subresource = 'subresource' in action ? (action.subresource ?? '') : ''
    const verb = VERBS[action.do]
    if ([action.resource, EVERY_RESOURCE].some((resource) => declared.has(`${keyOfResource(resource)} ${subresource} ${verb}`)))
      return undefined
    const what = subresource === '' ? action.resource.plural : `${action.resource.plural}/${subresource}`
    return `${controller} may not ${verb} ${what}: add it to its \`writes\``
  }
}
