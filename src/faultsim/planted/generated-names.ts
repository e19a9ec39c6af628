import { childName } from '../../kube/child-name.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Action, Batch } from '../../runtime/controller.ts'
import { childOf } from '../reference/greeting/plan.ts'
import { greetingTwin, type Planted } from './planted.ts'

const personOf = (map: KubeObject): string => (map.data as Record<string, string> | undefined)?.to ?? ''

export const generatedNames: Planted = {
  name: 'generated names',
  differs: 'a ConfigMap gets a new name with every attempt to make it',
  caughtBy: 'at rest',
  foundBy: { seed: 1 },
  cast: greetingTwin(() => ({
    plan(observed, right) {
      const { greeting, children, nowMs } = observed
      if (greeting === undefined) return right(observed)
      const byPerson = new Map(children.map((child) => [personOf(child), child]))
      const seen = [...byPerson].map(([person, child]) => ({
        ...child,
        metadata: { ...child.metadata, name: childOf(greeting, person).metadata.name },
      }))
      const planned = right({ ...observed, children: seen })
      const back = (action: Action | Batch): Action | Batch => {
        if (action.do === 'delete' && action.resource.plural === 'configmaps')
          return { ...action, of: byPerson.get(personOf(action.of)) ?? action.of }
        if (action.do !== 'apply') return action
        const name =
          byPerson.get(personOf(action.object))?.metadata.name ??
          childName(`${greeting.metadata.name}-`, personOf(action.object), String(nowMs))
        return { ...action, object: { ...action.object, metadata: { ...action.object.metadata, name } } }
      }
      return { ...planned, actions: planned.actions.map(back) }
    },
  })),
}
