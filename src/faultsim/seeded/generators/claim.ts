/** PersistentVolumeClaims with a pod that uses them: bound when the pod is placed, kept while it exists, reclaimed afterwards. */

import { PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { metadataOf } from './pod-template.ts'

export const claims: Generator = {
  name: 'claim',
  resource: PERSISTENT_VOLUME_CLAIMS,
  names: ['default/files'],
  usedBy: 'default/reader',
  draw: () => ({}),
  object: (where): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: metadataOf(where),
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }),
  change: () => undefined,
}

export const claimUsers: Generator = {
  name: 'user of a claim',
  resource: PODS,
  names: ['default/reader'],
  draw: () => ({}),
  object: (where): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadataOf(where),
    spec: {
      containers: [{ name: 'app', image: 'app:1', volumeMounts: [{ name: 'files', mountPath: '/files' }] }],
      volumes: [{ name: 'files', persistentVolumeClaim: { claimName: 'files' } }],
    },
  }),
  change: () => undefined,
}
