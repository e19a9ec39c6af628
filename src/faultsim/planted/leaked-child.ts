import { greetingTwin, type Planted } from './planted.ts'

export const leakedChild: Planted = {
  name: 'leaked child',
  differs: 'it takes back only what it remembers to have given',
  caughtBy: 'at rest',
  foundBy: { seed: 1 },
  cast: greetingTwin(() => {
    const given = new Set<string>()
    return {
      plan(observed, right) {
        const planned = right(observed)
        for (const action of planned.actions) if (action.do === 'apply') given.add(action.object.metadata.name ?? '')
        return {
          ...planned,
          actions: planned.actions.filter(
            (action) => action.do !== 'delete' || action.resource.plural !== 'configmaps' || given.has(action.of.metadata.name ?? ''),
          ),
        }
      },
    }
  }),
}
