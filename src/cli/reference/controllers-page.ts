/** Every controller with its purpose, its triggers, what it writes and where faults are injected into it. */

import type { Resource } from '../../kube/resource.ts'
import { MODULES } from '../../modules.ts'
import type { Access, Controller } from '../../runtime/controller.ts'
import { declaredControllers, type Module } from '../../runtime/module/module.ts'
import { code, type Page, page, table } from './markdown.ts'

export function controllersPage(modules: readonly Module[] = MODULES): Page {
  const intro =
    'Each is declared once, in the folder its name says; subscriptions, access rules (`deploy/rbac`), metrics and fault points are derived from the declaration. A module stands back on a server where a program that does the same work holds a live lease.'
  return page(
    'controllers',
    { title: 'Controllers', from: 'src/modules.ts', intro },
    [...declaredControllers(modules)].map(([module, controllers]) => section(module, controllers)),
  )
}

function section(module: Module, controllers: readonly Controller[]): string {
  const where = module.roles.length > 1 ? 'on the hub and on members' : module.roles.includes('hub') ? 'on the hub' : 'on members'
  const leases = module.upstreamLeases.map(({ namespace, name }) => code(`${namespace}/${name}`)).join(', ')
  const unless = leases === '' ? '' : `, unless one of these leases is live: ${leases}`
  const rows = controllers.map(described)
  return `## ${module.name}\n\nRuns ${where}${unless}.\n\n${table(['controller', 'for', 'also woken by', 'writes', 'fault points'], rows)}`
}

function described(controller: Controller): string[] {
  const triggers = [...new Set((controller.watches ?? []).map((watch) => resourceName(watch.resource)))]
  const effects = (controller.effects ?? []).map(
    (effect) => `${code(effect.name)} (${[effect.about, ...(effect.access ?? []).map(access)].join('; ')})`,
  )
  return [
    code(controller.name) +
      (controller.component === undefined ? '' : `, events from ${code(controller.component)}`) +
      (controller.needsHost ? ', in `up` only' : ''),
    code(resourceName(controller.for)),
    [...triggers.map(code), ...((controller.signals ?? []).length > 0 ? ['signals'] : [])].join(', '),
    controller.writes.map(access).join('; '),
    [
      `before and after every write (${controller.writes.flatMap((write) => write.verbs).length} kinds)`,
      `every event of ${1 + triggers.length} caches`,
      ...effects,
    ].join('; '),
  ]
}

const resourceName = ({ group, plural }: Resource): string => (group === '' ? plural : `${plural}.${group}`)

const access = ({ resource, subresource, verbs, in: where }: Access): string =>
  `${verbs.join(', ')} ${code(subresource === undefined ? resourceName(resource) : `${resourceName(resource)}/${subresource}`)}${where === undefined ? '' : ' in members'}`
