import { PODS } from '../../../kinds/kubernetes/resources.ts'
import type { PlantedInMember } from './planted.ts'

export const labelRemovedEarly: PlantedInMember = {
  name: 'label removed before the worker is gone',
  differs: 'a worker that is being deleted does not count for the labels of its node',
  caughtBy: 'invariant',
  foundBy: { seed: 2 },
  of: 'data.node',
  twin: (right) => ({
    ...right,
    watches: right.watches?.map((watch) => (watch.resource === PODS ? { ...watch, isRelevantUpdate: undefined } : watch)),
    observe: (key, primary, read, client) =>
      right.observe(
        key,
        primary,
        {
          ...read,
          byIndex: (resource, index, value) =>
            read.byIndex(resource, index, value).filter(({ metadata }) => metadata.deletionTimestamp === undefined),
        },
        client,
      ),
  }),
}
