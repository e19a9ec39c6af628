/** What the chapter creates: a Job that makes data on a volume, two that read it, their claim, and the policy that places them. */

import { type DataName, dataNameText } from '../../kinds/volcano/annotations.ts'
import { CLAIMS_ANNOTATION, DATA_DEPENDENCY_GROUP, PRODUCES_ANNOTATION } from '../../kinds/volcano/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'

export const NAMESPACE = 'default'
export const DATA: DataName = { system: 'files', type: 'log', name: 'clicks' }
export const DATA_TEXT = dataNameText(DATA)
/** Marks the chapter's own objects. */
export const STORY_LABEL = 'sluice.dev/story'
export const STORY_NAME = 'gate'
export const MAKER = 'collect'
/** It is there before its data. */
export const EARLY_READER = 'report'
/** It comes when the cluster that holds the data is cut off. */
export const LATE_READER = 'count'
export const CLAIM = 'clicks'
const POLICY = 'clicks'
const VOLUME = 'clicks'
const FILE = `/${VOLUME}/${DATA.name}`

const labels = { [STORY_LABEL]: STORY_NAME }
const metadataOf = (name: string) => ({ name, namespace: NAMESPACE, labels })

const jobOf = (name: string, script: string, annotations: Record<string, string>): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { ...metadataOf(name), annotations },
  spec: {
    template: {
      metadata: { labels },
      spec: {
        restartPolicy: 'Never',
        containers: [
          { name, image: 'this-machine', command: ['sh', '-c', script], volumeMounts: [{ name: VOLUME, mountPath: `/${VOLUME}` }] },
        ],
        volumes: [{ name: VOLUME, persistentVolumeClaim: { claimName: VOLUME } }],
      },
    },
  },
})

/** It takes a moment, so that there is something to wait for. */
export const maker = (): KubeObject =>
  jobOf(MAKER, `sleep 2; head -c 100000 /dev/urandom > ${FILE} && sha256sum < ${FILE}`, { [PRODUCES_ANNOTATION]: DATA_TEXT })

export const reader = (name: string): KubeObject => jobOf(name, `sha256sum < ${FILE}`, { [CLAIMS_ANNOTATION]: CLAIM })

export const claim = (): KubeObject => ({
  apiVersion: `${DATA_DEPENDENCY_GROUP}/v1alpha1`,
  kind: 'DataSourceClaim',
  metadata: metadataOf(CLAIM),
  spec: {
    system: DATA.system,
    dataSourceType: DATA.type,
    dataSourceName: DATA.name,
    workload: { apiVersion: 'batch/v1', kind: 'Job', name: EARLY_READER },
  },
})

export const volume = (): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: metadataOf(VOLUME),
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
})

/** One cluster, whichever it is. The volume goes where the Jobs go; what was made there stays there when the cluster is away. */
export const policy = (): KubeObject => ({
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: metadataOf(POLICY),
  spec: {
    propagateDeps: true,
    resourceSelectors: [{ apiVersion: 'batch/v1', kind: 'Job', labelSelector: { matchLabels: labels } }],
    placement: {
      spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }],
      clusterTolerations: [{ key: 'cluster.karmada.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
    },
  },
})
