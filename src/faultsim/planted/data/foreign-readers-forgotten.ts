import type { ListOptions } from '../../../client/client.ts'
import { PODS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Resource } from '../../../kube/resource.ts'
import type { PlantedInMember } from './planted.ts'

export const foreignReadersForgotten: PlantedInMember = {
  name: 'readers of other namespaces forgotten',
  differs: 'of the pods that read a dataset, only those of its own namespace keep a worker',
  caughtBy: 'invariant',
  foundBy: { seed: 50 },
  of: 'data.runtime.cache',
  twin: (right) => ({
    ...right,
    observe(key, primary, read, client) {
      const isCounted =
        (resource: Resource) =>
        ({ metadata }: KubeObject): boolean =>
          resource.plural !== PODS.plural || metadata.namespace === key.namespace
      const list = async <T extends KubeObject>(resource: Resource, options?: ListOptions) => {
        const { items, resourceVersion } = await client.list<T>(resource, options)
        return { items: items.filter(isCounted(resource)), resourceVersion }
      }
      return right.observe(
        key,
        primary,
        { ...read, byIndex: (resource, index, value) => read.byIndex(resource, index, value).filter(isCounted(resource)) },
        { ...client, list },
      )
    },
  }),
}
