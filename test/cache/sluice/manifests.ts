/** What the user of the proof applies: two datasets of the same sources with different runtimes, and Jobs that read them. Pure. */
import type { Job } from '../../../src/kinds/kubernetes/types.ts'
import { BUCKET, BUCKET_KEY } from '../programs/bucket.ts'

export interface DatasetPlan {
  name: string
  blockBytes: number
  /** What of the sources it shows. */
  shows: string
  /** Directories of nodes that its workers use, below the node's own directory, and their quotas. */
  directories: ReadonlyMap<string, number>
  /** In the order in which they are created. */
  objects: readonly { path: string; object: object }[]
}

export interface PlanOptions {
  megabytes: number
  /** Directory of the local source. */
  files: string
  /** Of the bucket. */
  endpoint: string
}

const MIB = 1024 * 1024
const NAMESPACE = 'default'
const FLUID = `/apis/data.fluid.io/v1alpha1/namespaces/${NAMESPACE}`
export const CORE = `/api/v1/namespaces/${NAMESPACE}`
export const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`
export const DATASETS = `${FLUID}/datasets`
const SECRET = 'bucket-keys'
/** Not a multiple of anything. */
const ODD_BYTES = 77
const STORE = 'var/lib/sluice/cache'
const ALLUXIO_BLOCK = 4 * MIB

export const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: SECRET },
  stringData: { id: BUCKET_KEY, secret: BUCKET_KEY },
}

export function datasetPlans(options: PlanOptions): [mixed: DatasetPlan, objects: DatasetPlan] {
  const quota = (share: number, blockBytes: number): number =>
    Math.max(blockBytes + ODD_BYTES, Math.floor(options.megabytes * MIB * share) + ODD_BYTES)
  return [mixedPlan(options, (share) => quota(share, MIB)), objectsPlan(options, (share) => quota(share, ALLUXIO_BLOCK))]
}

/** A CacheRuntime: memory and two directories of the node. Its workers together hold less than all. */
function mixedPlan({ files, endpoint }: PlanOptions, quota: (share: number) => number): DatasetPlan {
  const name = 'mixed'
  const [memory, first, second] = [quota(0.12), quota(0.1), quota(0.13)]
  return {
    name,
    blockBytes: MIB,
    shows: '/',
    directories: new Map([
      [`${STORE}/first`, first],
      [`${STORE}/second`, second],
    ]),
    objects: [
      {
        path: DATASETS,
        object: dataset(name, [{ name: 'files', mountPoint: `local://${files}`, path: '/files' }, bucketMount(endpoint)]),
      },
      {
        path: `${FLUID}/cacheruntimes`,
        object: {
          apiVersion: 'data.fluid.io/v1alpha1',
          kind: 'CacheRuntime',
          metadata: { name },
          spec: {
            runtimeClassName: 'builtin',
            master: { options: { metadataSyncInterval: '1s' } },
            worker: {
              replicas: 2,
              options: { blockSize: String(MIB) },
              tieredStore: {
                levels: [
                  { emptyDir: { medium: 'Memory', quota: String(memory) } },
                  { hostPath: { paths: [`/${STORE}/first`, `/${STORE}/second`], quotas: [String(first), String(second)] } },
                ],
              },
            },
          },
        },
      },
    ],
  }
}

/** An AlluxioRuntime, which the builtin cache serves: the process's own memory and a directory of the node. */
function objectsPlan({ endpoint }: PlanOptions, quota: (share: number) => number): DatasetPlan {
  const name = 'objects'
  const [memory, disk] = [quota(0.09), quota(0.1)]
  return {
    name,
    blockBytes: ALLUXIO_BLOCK,
    shows: '/objects',
    directories: new Map([[`${STORE}/alluxio`, disk]]),
    objects: [
      { path: DATASETS, object: dataset(name, [bucketMount(endpoint)]) },
      {
        path: `${FLUID}/alluxioruntimes`,
        object: {
          apiVersion: 'data.fluid.io/v1alpha1',
          kind: 'AlluxioRuntime',
          metadata: { name },
          spec: {
            replicas: 2,
            tieredstore: {
              levels: [
                { mediumtype: 'MEM', path: '/dev/shm', quota: String(memory) },
                { mediumtype: 'SSD', path: '/alluxio', quota: String(disk) },
              ],
            },
          },
        },
      },
    ],
  }
}

const dataset = (name: string, mounts: readonly object[]) => ({
  apiVersion: 'data.fluid.io/v1alpha1',
  kind: 'Dataset',
  metadata: { name },
  spec: { placement: 'Shared', mounts },
})

const bucketMount = (endpoint: string) => ({
  name: 'objects',
  mountPoint: `s3://${BUCKET}`,
  path: '/objects',
  options: { 'aws.endpoint': endpoint, 'fs.s3a.path.style.access': 'true' },
  encryptOptions: [
    { name: 'aws.accessKeyId', valueFrom: { secretKeyRef: { name: SECRET, key: 'id' } } },
    { name: 'aws.secretKey', valueFrom: { secretKeyRef: { name: SECRET, key: 'secret' } } },
  ],
})

/** Prints the checksums of all files once; every later pass must find exactly the same. */
const SCRIPT = `
cd /data || exit 2
list() { find . -type f -print0 | sort -z | xargs -0 -r sha256sum; }
first=$(list) || exit 4
echo "$first"
pass=1
while [ "$pass" -lt "$PASSES" ]; do
  sleep 0.3
  next=$(list) || exit 5
  [ "$next" = "$first" ] || { echo "pass $pass finds other bytes:"; echo "$next"; exit 3; }
  pass=$((pass + 1))
done
echo "passes $pass"
`

export interface ReaderPlan {
  name: string
  claim: string
  node: string
  passes: number
}

export const READER_LABEL = 'proof=reader'

export const readerJob = ({ name, claim, node, passes }: ReaderPlan): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, labels: { proof: 'reader' } },
  spec: {
    backoffLimit: 0,
    template: {
      metadata: { labels: { proof: 'reader' } },
      spec: {
        restartPolicy: 'Never',
        nodeSelector: { 'kubernetes.io/hostname': node },
        containers: [
          {
            name: 'reader',
            image: 'this-machine',
            command: ['sh', '-c', SCRIPT],
            env: [{ name: 'PASSES', value: String(passes) }],
            volumeMounts: [{ name: 'data', mountPath: '/data', readOnly: true }],
          },
        ],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim, readOnly: true } }],
      },
    },
  },
})
