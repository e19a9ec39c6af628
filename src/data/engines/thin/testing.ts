/** A profile, a ThinRuntime of it and their dataset, and what the engine makes of them. */
import assert from 'node:assert/strict'
import type { Dataset, DatasetSpec, ThinRuntime, ThinRuntimeProfile } from '../../../kinds/fluid/index.ts'
import type { DaemonSet, PodTemplateSpec } from '../../../kinds/kubernetes/types.ts'
import type { Prepared, Served } from '../engine.ts'
import { thinEngine } from './engine.ts'
import type { ProfileSpec, RuntimeSpec } from './spec.ts'

const API_VERSION = 'data.fluid.io/v1alpha1'

export const aProfile = (spec: Partial<ProfileSpec> = {}): ThinRuntimeProfile => ({
  apiVersion: API_VERSION,
  kind: 'ThinRuntimeProfile',
  metadata: { name: 'nfs' },
  spec: {
    nodePublishSecretPolicy: 'MountNodePublishSecretIfExists',
    fileSystemType: 'nfs',
    fuse: { image: 'example.com/nfs', imageTag: 'v1' },
    ...spec,
  },
})

export const aThinRuntime = (spec: RuntimeSpec = {}): ThinRuntime => ({
  apiVersion: API_VERSION,
  kind: 'ThinRuntime',
  metadata: { namespace: 'default', name: 'demo' },
  spec: { profileName: 'nfs', ...spec },
})

export const MOUNTS = [{ mountPoint: 'nfs.example.com:/data', name: 'data' }]

export const aDataset = (spec: DatasetSpec = { mounts: MOUNTS }): Dataset => ({
  apiVersion: API_VERSION,
  kind: 'Dataset',
  metadata: { namespace: 'default', name: 'demo' },
  spec,
})

export interface Given {
  runtime?: RuntimeSpec
  profile?: Partial<ProfileSpec> | 'none'
  dataset?: DatasetSpec
  /** As on Kubernetes unless it is said. */
  translates?: boolean
}

export const servedBy = ({ runtime, profile = {}, dataset, translates = false }: Given = {}): Served =>
  thinEngine.serve(
    {
      runtime: aThinRuntime(runtime),
      dataset: aDataset(dataset),
      classOf: () => undefined,
      profileOf: (name) => (profile === 'none' || name !== 'nfs' ? undefined : aProfile(profile)),
    },
    { translates, version: '1.0.0', hostPathPrefixes: 'all' },
  )

export function preparedBy(given: Given = {}): Prepared {
  const { prepared, refused } = servedBy(given)
  assert.ok(prepared !== undefined, refused?.message)
  return prepared
}

export const messageOf = (given: Given): string | undefined => servedBy(given).refused?.message

export function fuseIn({ objects }: Prepared): DaemonSet {
  const [fuse, second] = objects.daemonSets
  assert.ok(fuse !== undefined && second === undefined)
  return fuse
}

/** The only container of a pod, and the pod. */
export function podIn(template: PodTemplateSpec | undefined) {
  const [container, second] = template?.spec?.containers ?? []
  assert.ok(template?.spec !== undefined && container !== undefined && second === undefined)
  return { container, spec: template.spec, metadata: template.metadata ?? {} }
}

export const fusePod = (given: Given = {}) => podIn(fuseIn(preparedBy(given)).spec?.template)

export function configIn({ objects }: Prepared): unknown {
  return JSON.parse(objects.configMaps[0]?.data?.['config.json'] ?? '')
}
