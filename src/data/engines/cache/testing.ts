/** A dataset, a class with all that a class can say, and a runtime of it. */
import type { CacheRuntimeClass, CacheRuntimeSpec, Dataset, DatasetSpec } from '../../../kinds/fluid/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Cache, cacheNames } from './topology.ts'

const API_VERSION = 'data.fluid.io/v1alpha1'

const aDataset = (spec: DatasetSpec = {}): Dataset => ({
  apiVersion: API_VERSION,
  kind: 'Dataset',
  metadata: { namespace: 'default', name: 'demo', uid: 'd1' },
  spec,
})

const template = (name: string) => ({ spec: { containers: [{ name, image: `example.com/${name}:1` }] } })

export const aClass = (more: Partial<CacheRuntimeClass> = {}): CacheRuntimeClass => ({
  apiVersion: API_VERSION,
  kind: 'CacheRuntimeClass',
  metadata: { name: 'sample' },
  fileSystemType: 'samplefs',
  topology: {
    master: { template: template('master'), service: { headless: {} } },
    worker: { template: template('worker') },
    client: { template: template('client') },
  },
  ...more,
})

export interface CacheParts {
  spec?: Partial<CacheRuntimeSpec>
  dataset?: DatasetSpec
  runtimeClass?: CacheRuntimeClass
}

export function aCache({ spec = {}, dataset = {}, runtimeClass = aClass() }: CacheParts = {}): Cache {
  const metadata = { namespace: 'default', name: 'demo', uid: 'r1' }
  const runtime: KubeObject = { apiVersion: API_VERSION, kind: 'CacheRuntime', metadata }
  return {
    dataset: aDataset(dataset),
    runtime,
    spec: { runtimeClassName: 'sample', ...spec },
    runtimeClass,
    names: cacheNames({ metadata }),
    fuseLabel: 'fluid.io/f-default-demo',
    datasetId: 'default-demo',
    targetPath: '/runtime-mnt/cache/default/demo/cache-fuse',
  }
}
