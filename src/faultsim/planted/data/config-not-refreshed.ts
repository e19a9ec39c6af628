import { CONFIG_MAPS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { PlantedInMember } from './planted.ts'

interface Wanted {
  wanted: readonly { resource: { plural: string }; live: KubeObject | undefined }[]
}

export const configNotRefreshed: PlantedInMember = {
  name: 'config map not refreshed',
  differs: 'the copy of a configuration in the namespace of references stays as it was made',
  caughtBy: 'at rest',
  foundBy: { seed: 1 },
  of: 'data.reference.mirror',
  twin: (right) => ({
    ...right,
    plan(observed) {
      const seen = observed as Wanted | undefined
      if (seen === undefined) return right.plan(observed)
      const isNew = ({ resource, live }: Wanted['wanted'][number]): boolean => resource.plural !== CONFIG_MAPS.plural || live === undefined
      return right.plan({ ...seen, wanted: seen.wanted.filter(isNew) })
    },
  }),
}
