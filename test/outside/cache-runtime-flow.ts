/**
 * The flow of Fluid's end-to-end test of a CacheRuntime (`test/gha-e2e/curvine` of Fluid), with our class. Its steps, in its order:
 *
 * | step of Fluid | here |
 * |---|---|
 * | object store, its Secret and Service | as it is, with s3rver instead of minio, and so with s3rver's fixed keys |
 * | a Job makes the bucket | a Job, with a signed request instead of minio's client |
 * | a CacheRuntimeClass, its mount script in a ConfigMap | left out: the class `builtin` is there |
 * | Dataset and CacheRuntime | as they are, but for the class and an option of it: how often the bucket is listed |
 * | wait for Bound | as it is |
 * | a reference to the dataset, its read | left out: references are not served yet |
 * | worker: status, AdvancedStatefulSet, pods, a line of its log | as it is; the line is one of our master, which counts the workers |
 * | a Job writes a file through the claim | tried: its pod must say that writing to S3 needs FUSE. A Job writes it to the bucket instead |
 * | a DataLoad | left out: data operations are not served yet. The next listing finds the file |
 * | a Job reads the file through the claim | with `readOnly: true` |
 * | client: DaemonSet and pods | after the reader instead of before it: it runs where somebody reads |
 * | scale to 2 and back to 1 | as it is |
 * | delete; no workload, node label, volume, claim is left | as it is, by name, as labels do not find them all |
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeObject } from '../../src/kube/meta.ts'
import { type CheckResult, runChecks } from '../clients/check.ts'
import { otherKubectls, recordedKubectl } from '../machine/assets.ts'
import { runCommand } from '../machine/run-command.ts'
import {
  bucketJob,
  DATASET,
  DATASET_OF_BUCKET,
  dataJob,
  RUNTIME,
  SECRET_OF_STORE,
  SERVICE_OF_STORE,
  storeDeployment,
  storeJob,
} from './flow-manifests.ts'

const PATIENCE_S = 180
const kubectl = recordedKubectl() ?? otherKubectls()[0]
const COMPONENT = 'cacheruntime.fluid.io/component-name'

export const missingForFlow = async (): Promise<string | undefined> =>
  kubectl === undefined ? 'no kubectl of 1.28 or newer (scripts/kube-assets/build makes one)' : undefined

class Cluster {
  readonly #kubeconfig: string

  constructor(kubeconfig: string) {
    this.#kubeconfig = kubeconfig
  }

  /** What the command prints; it must succeed. */
  async kubectl(input: string, ...args: string[]): Promise<string> {
    const all = ['--kubeconfig', this.#kubeconfig, ...args]
    const ran = await runCommand(kubectl?.path ?? '', all, { input, timeoutMs: (PATIENCE_S + 30) * 1000 })
    assert.equal(ran.exitCode, 0, `kubectl ${args.join(' ')}: ${ran.stderr}`)
    return ran.stdout
  }

  async create(...objects: KubeObject[]): Promise<void> {
    for (const object of objects) await this.kubectl(JSON.stringify(object), 'create', '-f', '-')
  }

  get(what: string, path: string): Promise<string> {
    return this.kubectl('', 'get', ...what.split(' '), '-o', `jsonpath=${path}`)
  }

  /** Waits for a condition, or for a path with a value. */
  async wait(what: string, state: string): Promise<void> {
    await this.kubectl('', 'wait', `--for=${state}`, `--timeout=${PATIENCE_S}s`, ...what.split(' '))
  }

  async jobCompletes(name: string): Promise<void> {
    await this.wait(`job/${name}`, 'condition=Complete')
  }

  /** Asks until the answer is as expected, and fails with the last one. */
  async until(expected: RegExp, ask: () => Promise<string>): Promise<void> {
    for (let waited = 0; ; waited += 0.2) {
      const answer = await ask()
      if (expected.test(answer)) return
      if (waited > PATIENCE_S) assert.match(answer, expected)
      await sleep(200)
    }
  }
}

export function checkCacheRuntimeFlow({ kubeconfig }: { kubeconfig: string }): Promise<CheckResult[]> {
  const cluster = new Cluster(kubeconfig)
  const steps: [string, () => Promise<void>][] = [
    ['an object store', () => store(cluster)],
    ['a job makes the bucket', () => makeBucket(cluster)],
    ['a dataset and a runtime of our class are created', () => create(cluster)],
    ['the dataset is bound', () => cluster.wait(`dataset/${DATASET}`, 'jsonpath={.status.phase}=Bound')],
    ['the worker is ready, and its master counts it', () => workerReady(cluster)],
    ['a job that writes through the claim is told what it needs', () => writeThroughClaim(cluster)],
    ['a job writes a file to the bucket, and the next listing finds it', () => writeToBucket(cluster)],
    ['a job reads the file through the claim', () => read(cluster)],
    ['the client is ready on the node of the reader', () => clientReady(cluster)],
    ['two workers', () => scale(cluster, 2)],
    ['one worker again', () => scale(cluster, 1)],
    ['everything is deleted, and nothing is left', () => remove(cluster)],
  ]
  return runChecks(
    'cache runtime flow',
    steps.map(([name, run]) => ({ name, run })),
    true,
  )
}

async function store(cluster: Cluster): Promise<void> {
  await cluster.create(SECRET_OF_STORE, SERVICE_OF_STORE, storeDeployment())
  await cluster.wait('deployment/minio', 'condition=Available')
}

async function makeBucket(cluster: Cluster): Promise<void> {
  await cluster.create(bucketJob('minio-bucket-create'))
  await cluster.jobCompletes('minio-bucket-create')
}

async function create(cluster: Cluster): Promise<void> {
  await cluster.wait('cacheruntimeclass/builtin', 'jsonpath={.metadata.name}=builtin')
  await cluster.create(DATASET_OF_BUCKET, RUNTIME)
}

async function workerReady(cluster: Cluster): Promise<void> {
  await cluster.wait(`cacheruntime/${DATASET}`, 'jsonpath={.status.worker.phase}=Ready')
  await counts(cluster, 1)
  await cluster.wait(`pod -l ${COMPONENT}=${DATASET}-worker`, 'condition=Ready')
  await cluster.until(/"message":"a new epoch".*"workers":1/, () => cluster.kubectl('', 'logs', `${DATASET}-master-0`, '-c', 'master'))
}

/** The runtime and its set agree on how many workers there are, and are ready. */
async function counts(cluster: Cluster, workers: number): Promise<void> {
  const ofRuntime = () => cluster.get(`cacheruntime/${DATASET}`, '{.status.worker.readyReplicas}/{.status.worker.desiredReplicas}')
  await cluster.until(new RegExp(`^${workers}/${workers}$`), ofRuntime)
  const ofSet = await cluster.get(`advancedstatefulset/${DATASET}-worker`, '{.status.readyReplicas}/{.spec.replicas}')
  assert.equal(ofSet, `${workers}/${workers}`)
}

async function writeThroughClaim(cluster: Cluster): Promise<void> {
  await cluster.create(dataJob('write-job', 'echo helloworld > /data/minio/bar', { readOnly: false }))
  const messages = '{.items[*].status.containerStatuses[*].state.waiting.message}'
  await cluster.until(/writing to s3:\/\/ needs FUSE/, () => cluster.get('pod -l app=write-job', messages))
  await cluster.kubectl('', 'delete', 'job', 'write-job')
}

async function writeToBucket(cluster: Cluster): Promise<void> {
  await cluster.create(storeJob('write-bucket-job', 'bar', 'helloworld\n'))
  await cluster.jobCompletes('write-bucket-job')
  await cluster.wait(`dataset/${DATASET}`, 'jsonpath={.status.fileNum}=1')
}

async function read(cluster: Cluster): Promise<void> {
  const line = 'set -ex; test -n "$(cat /data/minio/bar)"; cat /data/minio/bar'
  await cluster.create(dataJob('read-job', line, { readOnly: true }))
  await cluster.jobCompletes('read-job')
  assert.match(await cluster.kubectl('', 'logs', 'job/read-job'), /^helloworld$/m)
}

async function clientReady(cluster: Cluster): Promise<void> {
  await cluster.kubectl('', 'rollout', 'status', `daemonset/${DATASET}-client`, `--timeout=${PATIENCE_S}s`)
  await cluster.wait(`pod -l ${COMPONENT}=${DATASET}-client`, 'condition=Ready')
  const nodeOf = (selector: string) => cluster.get(`pod -l ${selector}`, '{.items[*].spec.nodeName}')
  const clients = (await nodeOf(`${COMPONENT}=${DATASET}-client`)).split(' ')
  assert.ok(clients.includes(await nodeOf('app=read-job')), `clients are on ${clients.join(', ')}`)
}

async function scale(cluster: Cluster, workers: number): Promise<void> {
  const patch = JSON.stringify({ spec: { worker: { replicas: workers } } })
  await cluster.kubectl('', 'patch', 'cacheruntime', DATASET, '--type', 'merge', '-p', patch)
  await counts(cluster, workers)
}

async function remove(cluster: Cluster): Promise<void> {
  await cluster.kubectl('', 'delete', 'job', 'read-job')
  await cluster.kubectl('', 'delete', 'dataset', DATASET)
  await cluster.kubectl('', 'delete', 'cacheruntime', DATASET, '--ignore-not-found')
  const kinds = 'advancedstatefulsets,daemonsets,services,configmaps,secrets,pods,persistentvolumeclaims,persistentvolumes'
  await cluster.until(/^(?!.*curvine-demo)/s, () => cluster.kubectl('', 'get', kinds, '-o', 'name'))
  await cluster.until(/^(?!.*default-curvine-demo)/s, () => cluster.get('nodes', '{.items[*].metadata.labels}'))
}
