import type { Dataset } from '../../../kinds/fluid/index.ts'
import { DATASETS } from '../../../kinds/fluid/resources.ts'
import type { Plan } from '../../../runtime/controller.ts'
import type { PlantedInMember } from './planted.ts'

export const appendedList: PlantedInMember = {
  name: 'reference appended',
  differs: 'references are added to the list of a dataset, which is not made anew from those that there are',
  caughtBy: 'at rest',
  foundBy: { seed: 1 },
  of: 'data.dataset',
  twin: (right) => ({
    ...right,
    plan(observed) {
      const planned = right.plan(observed)
      return { ...planned, actions: planned.actions.map(appending) }
    },
  }),
}

type Planned = Plan['actions'][number]

function appending(action: Planned): Planned {
  if (action.do !== 'patch' || action.resource.plural !== DATASETS.plural) return action
  const { status } = action.patch as { status?: { datasetRef?: string[] | null } }
  const before = (action.of as Dataset).status?.datasetRef ?? []
  if (status?.datasetRef === undefined || before.length === 0) return action
  const datasetRef = [...new Set([...before, ...(status.datasetRef ?? [])])].sort()
  return { ...action, patch: { ...action.patch, status: { ...status, datasetRef } } }
}
