/**
 * Kubernetes' own programs at work on our server: kube-controller-manager, kube-scheduler and kwok bring a Deployment up, roll
 * and scale it, run a Job, collect garbage in all three ways and empty a namespace. Seen and driven through kubectl.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BareServer } from '../machine/bare-server.ts'
import { type ControlPlane, kubectlOf } from '../machine/control-plane.ts'
import type { Check } from './check.ts'

interface Cluster {
  namespace: string
  /** Output of a command in the namespace, which must succeed. */
  kubectl(...args: string[]): Promise<string>
  /** Names of objects, sorted. */
  names(kind: string, ...args: string[]): Promise<string[]>
  eventually(assertion: () => Promise<void>): Promise<void>
}

const PATIENCE_SECONDS = 90
const TIMEOUT = `--timeout=${PATIENCE_SECONDS}s`

export function controllerChecks(server: BareServer, controlPlane: ControlPlane): Check[] {
  const cluster = clusterOf(server, controlPlane)
  const check = (name: string, run: (cluster: Cluster) => Promise<void>): Check => ({ name, run: () => run(cluster) })
  return [
    check('a Deployment comes to three running pods', threeRunning),
    check('a Service gets its endpoints', endpoints),
    check('a new image rolls through', rolled),
    check('scaling up and down follows', scaled),
    check('a Job runs to completion', jobCompletes),
    check('a StatefulSet and a DaemonSet run their pods', setsRun),
    check('deleting a Deployment collects its ReplicaSets and pods', backgroundDeletion),
    check('foreground deletion waits for the dependents', foregroundDeletion),
    check('orphans stay and are adopted again', orphans),
    check('a quota counts and refuses', quota),
    check('a deleted namespace empties and goes', namespaceGoes),
    check('every program is still running', async () => {
      for (const child of controlPlane.children) child.assertAlive()
    }),
  ]
}

function clusterOf(server: BareServer, controlPlane: ControlPlane): Cluster {
  const namespace = `controllers-${randomBytes(3).toString('hex')}`
  const run = kubectlOf(server)
  const kubectl = async (...args: string[]): Promise<string> => {
    const result = await run('-n', namespace, ...args)
    if (result.exitCode !== 0) throw new Error(`kubectl ${args.join(' ')}: exit code ${result.exitCode}: ${result.stderr.trim()}`)
    return result.stdout.trim()
  }
  return {
    namespace,
    kubectl,
    async names(kind, ...args) {
      return (await kubectl('get', kind, '-o', 'name', ...args))
        .split('\n')
        .filter((name) => name !== '')
        .sort()
    },
    async eventually(assertion) {
      for (let seconds = 0; ; seconds += 0.5) {
        for (const child of controlPlane.children) child.assertAlive()
        try {
          await assertion()
          return
        } catch (error) {
          if (seconds >= PATIENCE_SECONDS) throw error
          await sleep(500)
        }
      }
    },
  }
}

async function threeRunning({ kubectl, names, namespace, eventually }: Cluster): Promise<void> {
  await kubectl('create', 'namespace', namespace)
  await kubectl('create', 'deployment', 'web', '--image=nginx:1', '--replicas=3', '--port=80')
  await kubectl('rollout', 'status', 'deployment/web', TIMEOUT)
  await eventually(async () => assert.equal((await names('pods', '--field-selector=status.phase=Running')).length, 3))
  assert.equal(await kubectl('get', 'deployment', 'web', '-o', 'jsonpath={.status.readyReplicas} {.status.availableReplicas}'), '3 3')
}

async function endpoints({ kubectl, eventually }: Cluster): Promise<void> {
  await kubectl('expose', 'deployment', 'web')
  const slices = [
    'get',
    'endpointslices',
    '-l',
    'kubernetes.io/service-name=web',
    '-o',
    'jsonpath={.items[*].endpoints[*].conditions.ready}',
  ]
  await eventually(async () => assert.equal(await kubectl(...slices), 'true true true'))
}

async function rolled({ kubectl, names, eventually }: Cluster): Promise<void> {
  await kubectl('set', 'image', 'deployment/web', 'nginx=nginx:2')
  await kubectl('rollout', 'status', 'deployment/web', TIMEOUT)
  const images = ['get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].spec.containers[0].image}']
  await eventually(async () => assert.equal(await kubectl(...images), 'nginx:2 nginx:2 nginx:2'))
  assert.equal((await names('replicasets', '-l', 'app=web')).length, 2)
}

async function scaled({ kubectl, names, eventually }: Cluster): Promise<void> {
  for (const replicas of [5, 1, 3]) {
    await kubectl('scale', 'deployment/web', `--replicas=${replicas}`)
    await eventually(async () =>
      assert.equal((await names('pods', '-l', 'app=web', '--field-selector=status.phase=Running')).length, replicas),
    )
  }
}

async function jobCompletes({ kubectl, names }: Cluster): Promise<void> {
  await kubectl('create', 'job', 'once', '--image=busybox', '--', 'true')
  await kubectl('wait', '--for=condition=Complete', 'job/once', TIMEOUT)
  assert.equal(await kubectl('get', 'job', 'once', '-o', 'jsonpath={.status.succeeded}'), '1')
  assert.equal((await names('pods', '-l', 'job-name=once')).length, 1)
}

async function setsRun({ kubectl, namespace, eventually }: Cluster): Promise<void> {
  const set = (kind: string, more: object): object => ({
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: kind.toLowerCase() },
    spec: {
      selector: { matchLabels: { set: kind } },
      template: { metadata: { labels: { set: kind } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
      ...more,
    },
  })
  await applied({ kubectl, namespace }, [set('StatefulSet', { replicas: 2, serviceName: 'none' }), set('DaemonSet', {})])
  await kubectl('rollout', 'status', 'statefulset/statefulset', TIMEOUT)
  await kubectl('rollout', 'status', 'daemonset/daemonset', TIMEOUT)
  await eventually(async () => assert.equal(await kubectl('get', 'daemonset', 'daemonset', '-o', 'jsonpath={.status.numberReady}'), '2'))
}

/** kubectl reads manifests from files; a JSON text of a List is one. */
async function applied({ kubectl, namespace }: Pick<Cluster, 'kubectl' | 'namespace'>, items: object[]): Promise<void> {
  const file = path.join(process.env.TMPDIR ?? '/tmp', `${namespace}.json`)
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  await kubectl('apply', '-f', file)
}

async function backgroundDeletion({ kubectl, names, eventually }: Cluster): Promise<void> {
  await kubectl('delete', 'deployment', 'web')
  await eventually(async () => {
    assert.deepEqual(await names('replicasets', '-l', 'app=web'), [])
    assert.deepEqual(await names('pods', '-l', 'app=web'), [])
  })
}

async function foregroundDeletion({ kubectl, names }: Cluster): Promise<void> {
  await kubectl('create', 'deployment', 'front', '--image=nginx', '--replicas=2')
  await kubectl('rollout', 'status', 'deployment/front', TIMEOUT)
  await kubectl('delete', 'deployment', 'front', '--cascade=foreground', TIMEOUT)
  // The owner goes last, so nothing may be left once it is gone.
  assert.deepEqual(await names('replicasets', '-l', 'app=front'), [])
  assert.deepEqual(await names('pods', '-l', 'app=front'), [])
}

async function orphans({ kubectl, names, eventually }: Cluster): Promise<void> {
  await kubectl('create', 'deployment', 'left', '--image=nginx', '--replicas=2')
  await kubectl('rollout', 'status', 'deployment/left', TIMEOUT)
  const before = await names('pods', '-l', 'app=left')
  await kubectl('delete', 'deployment', 'left', '--cascade=orphan', TIMEOUT)
  const owners = ['get', 'replicasets', '-l', 'app=left', '-o', 'jsonpath={.items[*].metadata.ownerReferences[*].kind}']
  await eventually(async () => assert.equal(await kubectl(...owners), ''))
  assert.deepEqual(await names('pods', '-l', 'app=left'), before)
  await kubectl('create', 'deployment', 'left', '--image=nginx', '--replicas=2')
  await eventually(async () => assert.equal(await kubectl(...owners), 'Deployment'))
  await kubectl('rollout', 'status', 'deployment/left', TIMEOUT)
  assert.deepEqual(await names('pods', '-l', 'app=left'), before)
}

async function quota({ kubectl, eventually }: Cluster): Promise<void> {
  await kubectl('create', 'quota', 'few', '--hard=configmaps=3')
  await eventually(async () => assert.equal(await kubectl('get', 'quota', 'few', '-o', 'jsonpath={.status.used.configmaps}'), '1'))
  await kubectl('create', 'configmap', 'one')
  await kubectl('create', 'configmap', 'two')
  await assert.rejects(kubectl('create', 'configmap', 'three'), /exceeded quota: few/)
}

async function namespaceGoes({ kubectl, namespace }: Cluster): Promise<void> {
  await kubectl('delete', 'namespace', namespace, TIMEOUT)
  await assert.rejects(kubectl('get', 'namespace', namespace), /NotFound/)
}
