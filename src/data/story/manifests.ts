/** What the chapter creates in one member: a claim with bytes that a Job writes, a dataset of it, and Jobs that read the dataset. */
import { DATA_GROUP } from '../../kinds/fluid/groups.ts'
import type { KubeObject } from '../../kube/meta.ts'

export const NAMESPACE = 'default'
/** Marks the chapter's own objects. */
export const STORY_LABEL = 'sluice.dev/story'
export const STORY_NAME = 'data'
/** The claim that holds the source. */
export const SOURCE = 'film-store'
export const DATASET = 'film'
export const MAKER = 'shoot'
export const FIRST_READER = 'watch'
/** It reads while a worker of the cache is missing. */
export const SECOND_READER = 'watch-again'
const MEBIBYTES = 48

const labels = { [STORY_LABEL]: STORY_NAME }
const metadataOf = (name: string) => ({ name, namespace: NAMESPACE, labels })

const jobOf = (name: string, script: string, claim: string): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: metadataOf(name),
  spec: {
    template: {
      metadata: { labels },
      spec: {
        restartPolicy: 'Never',
        containers: [{ name, image: 'this-machine', command: ['sh', '-c', script], volumeMounts: [{ name: 'film', mountPath: '/film' }] }],
        volumes: [{ name: 'film', persistentVolumeClaim: { claimName: claim } }],
      },
    },
  },
})

export const source = (): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: metadataOf(SOURCE),
  spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
})

const SUM = 'cat /film/reel-* | sha256sum'

/** Four files, so that several workers have a part. */
export const maker = (): KubeObject =>
  jobOf(MAKER, `for i in 1 2 3 4; do head -c ${MEBIBYTES / 4}M /dev/urandom > /film/reel-$i; done; ${SUM}`, SOURCE)

export const reader = (name: string): KubeObject => jobOf(name, SUM, DATASET)

export const dataset = (): KubeObject => ({
  apiVersion: `${DATA_GROUP}/v1alpha1`,
  kind: 'Dataset',
  metadata: metadataOf(DATASET),
  // Its claim is on one node, where both workers have to be.
  spec: { placement: 'Shared', mounts: [{ mountPoint: `pvc://${SOURCE}`, name: DATASET, path: '/' }] },
})

export const runtime = (): KubeObject => ({
  apiVersion: `${DATA_GROUP}/v1alpha1`,
  kind: 'CacheRuntime',
  metadata: metadataOf(DATASET),
  spec: {
    runtimeClassName: 'builtin',
    options: { preload: 'true' },
    worker: { replicas: 2, tieredStore: { levels: [{ emptyDir: { quota: '64Mi' } }] } },
  },
})
