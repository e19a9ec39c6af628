/**
 * A controller writes only what it has declared: access rules are generated from the declarations, so an undeclared write
 * would work here and be refused on a real cluster. Checked on every write, at the cost of a look-up.
 */
import { EVERY_RESOURCE } from '../kinds/kubernetes/resources.ts'
import { keyOfResource, type Resource } from '../kube/resource.ts'
import type { Access, Action } from './controller.ts'

/** Whether an action is declared, and under which name: `pods/status`, or `*` where everything is allowed. */
export type DeclaredCheck = (action: Action) => { name: string; wrong?: undefined } | { name: string; wrong: string }

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
    writes.flatMap(({ resource, subresource = '', verbs, in: where = '' }) =>
      verbs.map((verb) => `${where} ${keyOfResource(resource)} ${subresource} ${verb}`),
    ),
  )
  return (action) => {
    const subresource = 'subresource' in action ? (action.subresource ?? '') : ''
    const verb = VERBS[action.do]
    const where = action.cluster === undefined ? '' : 'members'
    const isDeclared = (resource: Resource): boolean => declared.has(`${where} ${keyOfResource(resource)} ${subresource} ${verb}`)
    const nameOf = ({ plural }: Resource): string => (subresource === '' ? plural : `${plural}/${subresource}`)
    if (isDeclared(action.resource)) return { name: nameOf(action.resource) }
    if (isDeclared(EVERY_RESOURCE)) return { name: nameOf(EVERY_RESOURCE) }
    return {
      name: 'undeclared',
      wrong: `${controller} may not ${verb} ${nameOf(action.resource)}${where === '' ? '' : ' in members'}: add it to its \`writes\``,
    }
  }
}
