/**
 * What `sluice why` says about datasets. On a member: of a dataset, a runtime and a pod the whole chain. On the hub, where they
 * are templates like others: how the dataset is in each cluster, and where to ask further.
 */

import { FORBIDDEN, got } from '../../client/read-as-caller.ts'
import { Dataset, runtimeKinds } from '../../kinds/fluid/index.ts'
import { DATASETS } from '../../kinds/fluid/resources.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { Resource } from '../../kube/resource.ts'
import type { ExplainedObject, Explainer } from '../../runtime/seams/explainer.ts'
import { explainDataset } from './dataset.ts'
import { readDatasetInput } from './input.ts'
import { explainOnHub } from './on-hub.ts'
import { explainPod, readPodInput } from './pod.ts'

const isOf = ({ group, kind }: Resource, of: { group: string; kind: string }): boolean => group === of.group && kind === of.kind
const isDataset = (resource: Resource): boolean => isOf(resource, Dataset)
const isRuntime = (resource: Resource): boolean => runtimeKinds.some((kind) => isOf(resource, kind))

export const dataExplainer: Explainer = {
  name: 'data',
  at: 'after-schedule',
  explain: async (subject, hub) =>
    isDataset(subject.resource) || isRuntime(subject.resource) ? explainOnHub(subject, hub) : { links: [] },
  objects: {
    // On a hub they are templates, and the fleet has more to say about them.
    explains: (resource: Resource, isHub) =>
      !isHub && (isDataset(resource) || isRuntime(resource) || isOf(resource, { group: '', kind: PODS.kind })),
    async explain({ resource, object, namespace, name, ...asked }, client): Promise<ExplainedObject> {
      if (resource.kind === PODS.kind) return explainPod(await readPodInput(client, object as Pod, asked.context))
      if (isDataset(resource)) return explainDataset(await readDatasetInput(client, object as Dataset, asked))
      const dataset = await got<Dataset>(client, DATASETS, { namespace, name })
      if (dataset !== undefined && dataset !== FORBIDDEN) return explainDataset(await readDatasetInput(client, dataset, asked))
      const says = dataset === FORBIDDEN ? 'its Dataset may not be read by you' : `there is no Dataset ${name}`
      const fix =
        dataset === FORBIDDEN
          ? 'ask an administrator'
          : `create a Dataset of that name in namespace ${namespace}: a runtime serves the one of its name`
      return { links: [{ what: 'dataset', state: 'waits', says }], says, trouble: { state: 'waits', says, fix } }
    },
  },
}
