/**
 * What the chapter creates in one member: a claim with bytes that a Job writes, a dataset of it, Jobs that read the dataset, and a second
 * namespace that refers to it.
 */
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
/** The namespace that reads the same dataset. */
export const GUESTS = 'cinema'
export const GUEST_READER = 'screen'
/** It reads on and on, while the cache is scaled in. */
export const LASTING_READER = 'screen-all-day'
/** It comes after that. */
export const LAST_READER = 'screen-late'
const MEBIBYTES = 48
export const FILM_BYTES = MEBIBYTES * 1024 * 1024

const labels = { [STORY_LABEL]: STORY_NAME }
const metadataOf = (name: string, namespace = NAMESPACE) => ({ name, namespace, labels })

interface JobOf {
  script: string
  claim: string
  namespace?: string
}

const jobOf = (name: string, { script, claim, namespace }: JobOf): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: metadataOf(name, namespace),
  spec: {
    template: {
      metadata: { labels },
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 1,
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
  jobOf(MAKER, {
    script: `for i in 1 2 3 4; do head -c ${MEBIBYTES / 4}M /dev/urandom > /film/reel-$i; done; ${SUM}`,
    claim: SOURCE,
  })

export const reader = (name: string, namespace?: string): KubeObject => jobOf(name, { script: SUM, claim: DATASET, namespace })

/** Ends by itself, so that it does not read for ever where the story is interrupted. */
export const lastingReader = (): KubeObject =>
  jobOf(LASTING_READER, { script: `for i in $(seq 300); do ${SUM}; sleep 0.5; done`, claim: DATASET, namespace: GUESTS })

export const guests = (): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: GUESTS, labels } })

export const reference = (): KubeObject => ({
  apiVersion: `${DATA_GROUP}/v1alpha1`,
  kind: 'Dataset',
  metadata: metadataOf(DATASET, GUESTS),
  spec: { mounts: [{ mountPoint: `dataset://${NAMESPACE}/${DATASET}` }] },
})

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
