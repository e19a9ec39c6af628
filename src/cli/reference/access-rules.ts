/**
 * What the controllers of a role may do, as RBAC, derived from their declarations: they may read what they follow, write
 * what they declare, and nothing else. Leases, definitions and webhooks belong to the process itself.
 */
import { stringify } from 'yaml'
import { ownAdmissionOf, type ClusterRole as Role } from '../../composition.ts'
import type { Resource } from '../../kube/resource.ts'
import { MODULES } from '../../modules.ts'
import type { Access, Controller } from '../../runtime/controller.ts'
import { resourcesOf } from '../../runtime/controller.ts'
import { declaredControllers, type Module } from '../../runtime/module/module.ts'
import type { Page } from './markdown.ts'

interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
}

const READ = ['get', 'list', 'watch']
const VERB_ORDER = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']

/** What the process needs in addition to its controllers. */
export const OF_THE_PROCESS: Rule[] = [
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get', 'create', 'patch'] },
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
    verbs: ['get', 'create', 'patch', 'delete'],
  },
]

/** Following the metadata of all objects, for ownership and namespaces: its rules cannot name resources. */
export const OF_EVERY_RESOURCE: Rule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch', 'patch', 'delete', 'deletecollection'] },
]

/** An admission that is served as a webhook reads from caches, and asks the server for rights. */
const usedByAdmission = (role: Role, modules: readonly Module[]): Rule[] =>
  ownAdmissionOf(role, modules).flatMap(({ reads = [], asksForRights = false }) => [
    ...reads.map(({ group, plural }) => ({ apiGroups: [group], resources: [plural], verbs: READ })),
    ...(asksForRights ? [{ apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] }] : []),
  ])

export function accessOf(controller: Controller): Rule[] {
  const read = resourcesOf(controller).map((resource) => ruleOf({ resource, verbs: READ }))
  const byEffects = (controller.effects ?? []).flatMap(({ access = [] }) => access)
  return merged([...read, ...[...controller.writes, ...(controller.reads ?? []), ...byEffects].map(ruleOf)])
}

function ruleOf({ resource, subresource, verbs }: Access): Rule {
  return { apiGroups: [resource.group], resources: [nameOf(resource, subresource)], verbs: [...verbs] }
}

const nameOf = (resource: Resource, subresource: string | undefined): string =>
  subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`

/** Merges rules per resource, then groups resources of an API group with the same verbs. */
function merged(rules: readonly Rule[]): Rule[] {
  const verbs = new Map<string, Set<string>>()
  for (const rule of rules)
    for (const group of rule.apiGroups)
      for (const resource of rule.resources) {
        const key = `${group}\n${resource}`
        verbs.set(key, new Set([...(verbs.get(key) ?? []), ...rule.verbs]))
      }
  const together = new Map<string, Rule>()
  for (const [key, set] of [...verbs].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [group = '', resource = ''] = key.split('\n')
    const sorted = [...VERB_ORDER.filter((verb) => set.has(verb)), ...[...set].filter((verb) => !VERB_ORDER.includes(verb)).sort()]
    const same = together.get(`${group} ${sorted.join()}`)
    if (same === undefined) together.set(`${group} ${sorted.join()}`, { apiGroups: [group], resources: [resource], verbs: sorted })
    else same.resources.push(resource)
  }
  return [...together.values()]
}

export const accessFiles = (modules: readonly Module[] = MODULES): Page[] =>
  (['hub', 'member'] as const).map((role) => accessFile(role, modules))

/** What a module's controllers may do on a cluster served by another program. */
const accessOfModule = (module: Module, controllers: readonly Controller[]): Rule[] =>
  merged([
    ...(module.followsCluster ? OF_EVERY_RESOURCE : []),
    ...controllers.filter(({ needsHost }) => needsHost !== true).flatMap(accessOf),
  ])

function accessFile(role: Role, modules: readonly Module[]): Page {
  const own = modules.filter(({ roles }) => roles.includes(role))
  const controllers = declaredControllers(own)
  const nameOfRole = (module: Module): string => `sluice-${role}-${module.name}`
  const documents = [
    clusterRole(`sluice-${role}`, merged([...OF_THE_PROCESS, ...usedByAdmission(role, modules)])),
    ...own.map((module) => clusterRole(nameOfRole(module), accessOfModule(module, controllers.get(module) ?? []))),
    serviceAccount(),
    ...[`sluice-${role}`, ...own.map(nameOfRole)].map(binding),
    ...own.flatMap(({ userRoles }) => userRoles?.[role] ?? []),
  ]
  const head = '# Generated by `npm run generate` from the declarations of the controllers; do not edit.\n'
  return {
    path: `deploy/rbac/${role}.yaml`,
    content: head + documents.map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n'),
  }
}

const clusterRole = (name: string, rules: Rule[]): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name },
  rules,
})

const serviceAccount = (): object => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sluice', namespace: 'kube-system' } })

const binding = (name: string): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
  subjects: [{ kind: 'ServiceAccount', name: 'sluice', namespace: 'kube-system' }],
})
