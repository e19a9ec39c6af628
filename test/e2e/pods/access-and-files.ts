/** What a pod is given: the permissions of its service account, files of ConfigMaps and Secrets, its order of containers. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Deployment } from '../../../src/kinds/kubernetes/types.ts'
import { aClaim, aJob, aPod, claimVolume, containerOf, type Place, shell, until } from './place.ts'

const SCALER = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'scaler' } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'scaler' },
    rules: [
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list'] },
      { apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['get', 'update', 'patch'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'scaler' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'scaler' },
    subjects: [{ kind: 'ServiceAccount', name: 'scaler' }],
  },
]

const TARGET = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'target' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'target' } },
    template: { metadata: { labels: { app: 'target' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
  },
}

export function accessAndFiles(place: () => Place): void {
  it('a pod with a service account scales a Deployment with kubectl, and no other pod may', async () => {
    const p = place()
    await p.apply(...SCALER, TARGET)
    const scale = (replicas: number): string => `kubectl scale deployment/target --replicas=${replicas} 2>&1`
    await p.apply(
      aJob('scale', { serviceAccountName: 'scaler', containers: [shell(scale(3))] }),
      aJob('scale-not', { containers: [shell(`${scale(5)} || echo refused`)] }),
    )
    await p.kubectl('wait', '--for=condition=complete', 'job/scale', 'job/scale-not', '--timeout=90s')
    assert.equal(await p.kubectl('logs', 'job/scale'), 'deployment.apps/target scaled\n')
    assert.match(
      await p.kubectl('logs', 'job/scale-not'),
      /deployments\.apps "target" is forbidden: User "system:serviceaccount:default:default"[\s\S]*refused/,
    )
    await p.kubectl('rollout', 'status', 'deployment/target', '--timeout=90s')
    assert.equal((await p.get<Deployment>('deployments', 'target', 'apis/apps/v1'))?.status?.readyReplicas, 3)
  })

  it('files of a ConfigMap and of a Secret follow their source; variables are as they were at the start', async () => {
    const p = place()
    const source = (text: string): object[] => [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { colour: text } },
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' }, stringData: { pin: text } },
    ]
    const main = shell('exec sleep 100000', {
      env: [{ name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'colour' } } }],
      volumeMounts: [
        { name: 'settings', mountPath: `/etc/settings-${p.mark}` },
        { name: 'key', mountPath: `/etc/key-${p.mark}`, readOnly: true },
      ],
    })
    const volumes = [
      { name: 'settings', configMap: { name: 'settings' } },
      { name: 'key', secret: { secretName: 'key', defaultMode: 0o400 } },
    ]
    await p.apply(...source('red'), aPod('reader', { containers: [main], volumes }))
    await p.running('reader')
    const read = (): Promise<string> =>
      p.kubectl('exec', 'reader', '--', 'sh', '-c', `echo $(cat /etc/settings-${p.mark}/colour /etc/key-${p.mark}/pin) $COLOUR`)
    assert.equal(await read(), 'redred red\n')
    await p.apply(...source('blue'))
    let seen = ''
    await until(
      () => `both in blue: ${seen}`,
      async () => {
        seen = await read()
        return seen === 'blueblue red\n'
      },
    )
    assert.notEqual((await p.tryKubectl('exec', 'reader', '--', 'sh', '-c', `: > /etc/settings-${p.mark}/new`)).exitCode, 0)
  })

  it('init containers come one after the other, a sidecar stays beside, and ends after the main ones', async () => {
    const p = place()
    const at = `/order-${p.mark}`
    const mounted = { volumeMounts: [{ name: 'order', mountPath: at }] }
    const stays = (name: string): string =>
      `trap 'sleep 0.3; echo ${name} ends >> ${at}/list; exit 0' TERM; echo ${name} >> ${at}/list; touch ${at}/${name}; while :; do sleep 0.1; done`
    const side = {
      restartPolicy: 'Always',
      startupProbe: { exec: { command: ['test', '-e', `${at}/side`] }, periodSeconds: 1, timeoutSeconds: 10, failureThreshold: 60 },
    }
    await p.apply(
      aClaim('order'),
      aPod('ordered', {
        terminationGracePeriodSeconds: 60,
        initContainers: [
          shell(`sleep 0.5; echo first >> ${at}/list`, { name: 'first', ...mounted }),
          shell(stays('side'), { name: 'side', ...side, ...mounted }),
          shell(`echo second >> ${at}/list`, { name: 'second', ...mounted }),
        ],
        containers: [shell(stays('main'), mounted)],
        volumes: [claimVolume('order')],
      }),
    )
    const pod = await p.running('ordered')
    assert.equal(containerOf(pod, 'first')?.state?.terminated?.reason, 'Completed')
    const list = `${await p.directoryOf('order')}/list`
    await until(
      () => 'the main container in the list',
      async () => (await p.shell(`cat ${list}`)).includes('main'),
    )
    await p.kubectl('delete', 'pod', 'ordered', '--timeout=90s')
    assert.equal(await p.shell(`cat ${list}`), 'first\nside\nsecond\nmain\nmain ends\nside ends\n')
  })

  it('a volume of a driver that is not here leaves the pod waiting, and says so', async () => {
    const p = place()
    const main = shell('true', { volumeMounts: [{ name: 'far', mountPath: '/far' }] })
    await p.apply(aPod('stuck', { containers: [main], volumes: [{ name: 'far', csi: { driver: 'far.example.com' } }] }))
    const pod = await p.podWhen('stuck', (one) => containerOf(one, 'main')?.state?.waiting?.reason === 'ContainerCreating')
    let said = ''
    await until(
      () => `FailedMount that names the driver: ${said}`,
      async () => {
        said = (await p.events(pod)).map(({ reason, message }) => `${reason}: ${message}`).join('\n')
        return /FailedMount: .*far\.example\.com/.test(said)
      },
    )
  })
}
