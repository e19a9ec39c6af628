/** Every controller with what it is for, what wakes it, what it writes and where faults are injected into it. */

import type { Resource } from '../../kube/resource.ts'
import type { Access, Controller } from '../../runtime/controller.ts'
import { roomsInWords } from './every-controller.ts'
import { code, type Page, page, table } from './markdown.ts'

export function controllersPage(): Page {
  const [onMembers, onHub] = [roomsInWords('member', true), roomsInWords('hub', true)]
  const isIn = (rooms: readonly { name: string }[], name: string): boolean => rooms.some((room) => room.name === name)
  const rooms = [...onMembers, ...onHub.filter(({ name }) => !isIn(onMembers, name))]
  const intro =
    'Each is declared once, in the folder its name says; subscriptions, access rules (`deploy/rbac`), metrics and fault points are derived from the declaration. A room stays away from a server where a program that does the same work holds a live lease.'
  return page(
    'controllers',
    { title: 'Controllers', from: 'src/controllers.ts', intro },
    rooms.map((room) => {
      const where = !isIn(onHub, room.name) ? 'on members' : isIn(onMembers, room.name) ? 'on the hub and on members' : 'on the hub'
      const upstream = room.upstream.map(({ namespace, name }) => code(`${namespace}/${name}`)).join(', ')
      const rows = room.controllers.map(described)
      return `## ${room.name}\n\nRuns ${where}, unless one of these leases is live: ${upstream}.\n\n${table(['controller', 'for', 'also woken by', 'writes', 'fault points'], rows)}`
    }),
  )
}

function described(controller: Controller): string[] {
  const woken = [...new Set((controller.watches ?? []).map((watch) => resourceName(watch.resource)))]
  const effects = (controller.effects ?? []).map((effect) => `${code(effect.name)} (${effect.about})`)
  return [
    code(controller.name) + (controller.component === undefined ? '' : `, events from ${code(controller.component)}`),
    code(resourceName(controller.for)),
    [...woken.map(code), ...((controller.signals ?? []).length > 0 ? ['signals'] : [])].join(', '),
    controller.writes.map(access).join('; '),
    [
      `before and after every write (${controller.writes.flatMap((write) => write.verbs).length} kinds)`,
      `every event of ${1 + woken.length} caches`,
      ...effects,
    ].join('; '),
  ]
}

const resourceName = ({ group, plural }: Resource): string => (group === '' ? plural : `${plural}.${group}`)

const access = ({ resource, subresource, verbs, in: where }: Access): string =>
  `${verbs.join(', ')} ${code(subresource === undefined ? resourceName(resource) : `${resourceName(resource)}/${subresource}`)}${where === undefined ? '' : ' in members'}`
