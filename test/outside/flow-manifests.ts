/** What the flow of cache-runtime-flow.ts creates. Names and options are those that its original uses. */
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { KubeObject } from '../../src/kube/meta.ts'

export const DATASET = 'curvine-demo'
const BUCKET = 'test'
const STORE = 'minio'
const STORE_PORT = 9000
const SECRET = 'curvine-secret'
/** Of s3rver, fixed. */
const KEY = 'S3RVER'
const ENDPOINT = `http://${STORE}:${STORE_PORT}`

/** A program of this machine: nothing is pulled. */
const IMAGE = 'this-machine'

export const SECRET_OF_STORE: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: SECRET },
  stringData: { 'access-key': KEY, 'secret-key': KEY },
}

export const SERVICE_OF_STORE: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: STORE },
  spec: { selector: { app: STORE }, ports: [{ port: STORE_PORT, targetPort: STORE_PORT }] },
}

/** s3rver as a pod, found by the name of its Service. */
export function storeDeployment(): KubeObject {
  const container = {
    name: STORE,
    image: IMAGE,
    command: [process.execPath, path.resolve('node_modules/s3rver/bin/s3rver.js')],
    args: ['--directory', '/data', '--address', '$(POD_IP)', '--port', String(STORE_PORT), '--no-vhost-buckets'],
    env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
    readinessProbe: { tcpSocket: { port: STORE_PORT }, periodSeconds: 1 },
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  }
  const labels = { app: STORE }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: STORE },
    spec: {
      selector: { matchLabels: labels },
      strategy: { type: 'Recreate' },
      template: { metadata: { labels }, spec: { containers: [container], volumes: [{ name: 'data', emptyDir: {} }] } },
    },
  }
}

export const DATASET_OF_BUCKET: KubeObject = {
  apiVersion: 'data.fluid.io/v1alpha1',
  kind: 'Dataset',
  metadata: { name: DATASET },
  spec: {
    accessModes: ['ReadWriteMany'],
    mounts: [
      {
        mountPoint: `s3://${BUCKET}`,
        name: 'minio',
        options: { endpoint_url: ENDPOINT, region_name: 'us-east-1', path_style: 'true' },
        encryptOptions: [
          { name: 'access', valueFrom: { secretKeyRef: { name: SECRET, key: 'access-key' } } },
          { name: 'secret', valueFrom: { secretKeyRef: { name: SECRET, key: 'secret-key' } } },
        ],
      },
    ],
  },
}

export const RUNTIME: KubeObject = {
  apiVersion: 'data.fluid.io/v1alpha1',
  kind: 'CacheRuntime',
  metadata: { name: DATASET },
  spec: {
    runtimeClassName: 'builtin',
    // A DataLoad would list the bucket again; without one it is listed as often as this says.
    master: { replicas: 1, options: { key1: 'master-value1', metadataSyncInterval: '1s' } },
    worker: {
      replicas: 1,
      options: { key1: 'worker-value1' },
      tieredStore: { levels: [{ low: '0.5', high: '0.8', emptyDir: { quota: '1Gi' } }] },
    },
    client: { options: { key1: 'value1' } },
  },
}

function job(name: string, container: object, volumes: object[] = []): KubeObject {
  const spec = { restartPolicy: 'Never', containers: [{ name, image: IMAGE, ...container }], automountServiceAccountToken: false, volumes }
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: { template: { metadata: { labels: { app: name } }, spec } } }
}

/** Signs a PUT to the store with the keys of the Secret. */
const PUT = `
const { AwsClient } = await import(process.argv[1])
const [url, body] = process.argv.slice(2)
const store = new AwsClient({ accessKeyId: process.env.ACCESS_KEY, secretAccessKey: process.env.SECRET_KEY, service: 's3', region: 'us-east-1' })
const answer = await store.fetch(url, { method: 'PUT', body })
if (!answer.ok) throw new Error(answer.status + ' ' + (await answer.text()))
`

function putJob(name: string, key: string, body: string): KubeObject {
  const library = pathToFileURL(path.resolve('node_modules/aws4fetch/dist/aws4fetch.esm.mjs')).href
  const fromSecret = (variable: string, secretKey: string) => ({
    name: variable,
    valueFrom: { secretKeyRef: { name: SECRET, key: secretKey } },
  })
  return job(name, {
    command: [process.execPath, '--input-type=module', '-e', PUT, library, `${ENDPOINT}/${BUCKET}${key}`, body],
    env: [fromSecret('ACCESS_KEY', 'access-key'), fromSecret('SECRET_KEY', 'secret-key')],
  })
}

export const bucketJob = (name: string): KubeObject => putJob(name, '', '')
export const storeJob = (name: string, key: string, text: string): KubeObject => putJob(name, `/${key}`, text)

/** Runs a line of shell with the dataset at /data. */
export const dataJob = (name: string, line: string, { readOnly }: { readOnly: boolean }): KubeObject =>
  job(name, { command: ['sh', '-c', line], volumeMounts: [{ name: 'data-vol', mountPath: '/data', readOnly }] }, [
    { name: 'data-vol', persistentVolumeClaim: { claimName: DATASET, readOnly } },
  ])
