/** What programs do with @kubernetes/client-node, on a server of ours: create, read, change, watch, follow with an informer, delete. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  type V1Deployment,
  VersionApi,
  Watch,
} from '@kubernetes/client-node'
import type { Check } from './check.ts'

const LABELS = { app: 'web' }
const DEPLOYMENT: V1Deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: LABELS },
    template: { metadata: { labels: LABELS }, spec: { containers: [{ name: 'main', image: 'nginx:1' }] } },
  },
}

export function clientNodeChecks(kubeconfig: string): Check[] {
  const config = new KubeConfig()
  config.loadFromFile(kubeconfig)
  const namespace = `client-node-${randomBytes(3).toString('hex')}`
  const core = config.makeApiClient(CoreV1Api)
  return [
    {
      name: 'the version is that of Kubernetes',
      async run() {
        assert.match((await config.makeApiClient(VersionApi).getCode()).gitVersion, /^v1\.36\.3/)
      },
    },
    { name: 'create, read, replace and list', run: () => createReadReplace(core, namespace) },
    { name: 'errors carry a Status', run: () => errors(core, namespace) },
    { name: 'strategic, merge, JSON and apply patches', run: () => patches(config, namespace) },
    { name: 'a watch tells what happens', run: () => watch(config, core, namespace) },
    { name: 'an informer fills and follows', run: () => informer(config, core, namespace) },
    { name: 'objects of any kind by their apiVersion and kind', run: () => anyKind(config, namespace) },
    {
      name: 'delete',
      async run() {
        await core.deleteNamespacedConfigMap({ namespace, name: 'a' })
        await assert.rejects(core.readNamespacedConfigMap({ namespace, name: 'a' }), isAnswer(404))
      },
    },
  ]
}

async function createReadReplace(core: CoreV1Api, namespace: string): Promise<void> {
  await core.createNamespace({ body: { metadata: { name: namespace } } })
  const made = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a', labels: { x: 'y' } }, data: { k: 'v' } } })
  assert.ok(made.metadata?.uid)
  assert.ok(made.metadata.creationTimestamp instanceof Date)
  const replaced = await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: { ...made, data: { k: 'w' } } })
  assert.notEqual(replaced.metadata?.resourceVersion, made.metadata.resourceVersion)
  const read = await core.readNamespacedConfigMap({ namespace, name: 'a' })
  assert.deepEqual(read.data, { k: 'w' })
  const list = await core.listNamespacedConfigMap({ namespace, labelSelector: 'x=y' })
  assert.deepEqual(
    list.items.map((item) => item.metadata?.name),
    ['a'],
  )
}

const isAnswer =
  (code: number) =>
  (error: unknown): boolean =>
    error instanceof ApiException && error.code === code

async function errors(core: CoreV1Api, namespace: string): Promise<void> {
  await assert.rejects(core.readNamespacedConfigMap({ namespace, name: 'nosuch' }), (error: unknown) => {
    assert.ok(error instanceof ApiException)
    assert.equal(error.code, 404)
    assert.match(String(error.body), /configmaps \\?"nosuch\\?" not found/)
    return true
  })
  await assert.rejects(core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' } } }), isAnswer(409))
  await assert.rejects(core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'Not_A_Name' } } }), isAnswer(422))
}

async function patches(config: KubeConfig, namespace: string): Promise<void> {
  const apps = config.makeApiClient(AppsV1Api)
  await apps.createNamespacedDeployment({ namespace, body: DEPLOYMENT })
  const patch = (type: string, body: object, more: { fieldManager?: string; force?: boolean } = {}): Promise<V1Deployment> =>
    apps.patchNamespacedDeployment({ namespace, name: 'web', body, ...more }, setHeaderOptions('Content-Type', type))
  const sidecar = { spec: { template: { spec: { containers: [{ name: 'side', image: 'busybox' }] } } } }
  const strategic = await patch(PatchStrategy.StrategicMergePatch, sidecar)
  assert.deepEqual(strategic.spec?.template.spec?.containers.map((container) => container.name).sort(), ['main', 'side'])
  const merged = await patch(PatchStrategy.MergePatch, { metadata: { labels: { x: 'y' } } })
  assert.equal(merged.metadata?.labels?.x, 'y')
  const changed = await patch(PatchStrategy.JsonPatch, [{ op: 'replace', path: '/spec/replicas', value: 5 }])
  assert.equal(changed.spec?.replicas, 5)
  const intent = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 3 } }
  await assert.rejects(patch(PatchStrategy.ServerSideApply, intent, { fieldManager: 'other' }), isAnswer(409))
  const applied = await patch(PatchStrategy.ServerSideApply, intent, { fieldManager: 'other', force: true })
  assert.equal(applied.spec?.replicas, 3)
}

async function watch(config: KubeConfig, core: CoreV1Api, namespace: string): Promise<void> {
  const { metadata } = await core.listNamespacedConfigMap({ namespace })
  const received: string[] = []
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const query = { resourceVersion: metadata?.resourceVersion }
  const request = await new Watch(config).watch(
    path,
    query,
    (type, object: V1ConfigMap) => received.push(`${type} ${object.metadata?.name}`),
    ignoreEnd,
  )
  try {
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'watched' } } })
    await core.replaceNamespacedConfigMap({ namespace, name: 'watched', body: { metadata: { name: 'watched' }, data: { k: 'v' } } })
    await core.deleteNamespacedConfigMap({ namespace, name: 'watched' })
    await eventually(() => assert.deepEqual(received, ['ADDED watched', 'MODIFIED watched', 'DELETED watched']))
  } finally {
    request.abort()
  }
}

async function informer(config: KubeConfig, core: CoreV1Api, namespace: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const following = makeInformer<V1ConfigMap>(config, path, () => core.listNamespacedConfigMap({ namespace }))
  const received: string[] = []
  for (const event of ['add', 'update', 'delete'] as const)
    following.on(event, (object) => received.push(`${event} ${object.metadata?.name}`))
  // Our code ends the watch by aborting it, which is reported as an error.
  following.on('error', ignoreEnd)
  await following.start()
  try {
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'followed' } } })
    await eventually(() => assert.deepEqual(received, ['add a', 'add followed']))
    await core.replaceNamespacedConfigMap({ namespace, name: 'followed', body: { metadata: { name: 'followed' }, data: { k: 'v' } } })
    await core.deleteNamespacedConfigMap({ namespace, name: 'followed' })
    await eventually(() => assert.deepEqual(received, ['add a', 'add followed', 'update followed', 'delete followed']))
    assert.equal(following.get('a', namespace)?.data?.k, 'w')
  } finally {
    await following.stop()
  }
}

async function anyKind(config: KubeConfig, namespace: string): Promise<void> {
  const objects = KubernetesObjectApi.makeApiClient(config)
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'r', namespace } }
  await objects.create({ ...role, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] } as typeof role)
  const read = await objects.read(role)
  assert.equal(read.metadata?.name, 'r')
  await objects.delete(role)
  await assert.rejects(objects.read(role), isAnswer(404))
}

function ignoreEnd(): void {
  // The check itself ended the watch.
}

/** Events may take a while; if they never arrive, the last failure is reported. */
async function eventually(assertion: () => void): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      assertion()
      return
    } catch (error) {
      if (tries >= 600) throw error
      await sleep(50)
    }
  }
}
