import type { KubeObject } from '../../kube/meta.ts'
import type { Action, Batch } from '../../runtime/controller.ts'
import { childOf } from '../reference/greeting/plan.ts'
import type { Greeting } from '../reference/kinds.ts'
import { greetingTwin, type Planted } from './planted.ts'

const personOf = (map: KubeObject): string => (map.data as Record<string, string> | undefined)?.to ?? ''
const renamed = (map: KubeObject, name: string | undefined): KubeObject => ({ ...map, metadata: { ...map.metadata, name } })

export const nameCollision: Planted = {
  name: 'name collision',
  differs: 'it calls a ConfigMap after greeting and person, joined by a dash that both may contain',
  caughtBy: 'invariant',
  foundBy: { seed: 2 },
  cast: greetingTwin(() => ({
    plan(observed, right) {
      const { greeting, children } = observed
      if (greeting === undefined) return right(observed)
      const asRight = new Map(children.map((child) => [renamed(child, rightName(greeting, child)), child]))
      const planned = right({ ...observed, children: [...asRight.keys()] })
      const back = (action: Action | Batch): Action | Batch => {
        if (action.do === 'delete') return { ...action, of: asRight.get(action.of) ?? action.of }
        if (action.do !== 'apply') return action
        return { ...action, object: renamed(action.object, `${greeting.metadata.name}-${personOf(action.object)}`) }
      }
      return { ...planned, actions: planned.actions.map(back) }
    },
  })),
}

const rightName = (greeting: Greeting, child: KubeObject): string | undefined => childOf(greeting, personOf(child)).metadata.name
