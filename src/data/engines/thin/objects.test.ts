import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { configIn, fuseIn, fusePod, MOUNTS, podIn, preparedBy } from './testing.ts'

const TARGET = '/runtime-mnt/thin/default/demo/thin-fuse'
const secret = (name: string, key: string) => ({ valueFrom: { secretKeyRef: { name, key } } })

describe('the fuse of a ThinRuntime', () => {
  it('is the container of its profile, privileged, where its readers are', () => {
    const fuse = fuseIn(preparedBy())
    const { container, spec, metadata } = podIn(fuse.spec?.template)
    assert.deepEqual(fuse.spec?.updateStrategy, { type: 'OnDelete' })
    assert.deepEqual(fuse.metadata.ownerReferences?.[0]?.kind, 'ThinRuntime')
    assert.deepEqual(container, {
      name: 'thin-fuse',
      image: 'example.com/nfs:v1',
      imagePullPolicy: 'IfNotPresent',
      env: [
        { name: 'FLUID_RUNTIME_TYPE', value: 'thin' },
        { name: 'FLUID_RUNTIME_NS', value: 'default' },
        { name: 'FLUID_RUNTIME_NAME', value: 'demo' },
        { name: 'MOUNT_POINT', value: TARGET },
        { name: 'MOUNT_OPTIONS', value: 'ro' },
      ],
      lifecycle: { preStop: { exec: { command: ['umount', TARGET] } } },
      securityContext: { privileged: true, runAsUser: 0, runAsGroup: 0 },
      volumeMounts: [
        { name: 'thin-conf', mountPath: '/etc/fluid/config', readOnly: true },
        { name: 'thin-fuse-mount', mountPath: '/runtime-mnt/thin/default/demo', mountPropagation: 'Bidirectional' },
      ],
    })
    assert.deepEqual(spec.volumes, [
      {
        name: 'thin-conf',
        configMap: { name: 'demo-fuse-conf', items: [{ key: 'config.json', path: 'config.json' }], defaultMode: 0o444 },
      },
      { name: 'thin-fuse-mount', hostPath: { path: '/runtime-mnt/thin/default/demo', type: 'DirectoryOrCreate' } },
    ])
    assert.deepEqual([spec.nodeSelector, spec.tolerations], [{ 'fluid.io/f-default-demo': 'true' }, [{ operator: 'Exists' }]])
    assert.deepEqual([spec.hostNetwork, spec.dnsPolicy], [true, 'ClusterFirstWithHostNet'])
    for (const [key, value] of Object.entries(fuse.spec?.selector?.matchLabels ?? {})) assert.equal(metadata.labels?.[key], value)
    assert.deepEqual([metadata.labels?.role, metadata.labels?.['fluid.io/dataset-id']], ['thin-fuse', 'default-demo'])
  })

  it('is what the runtime says, field by field, and otherwise what the profile says', () => {
    const probe = (path: string) => ({ httpGet: { path, port: 80 } })
    const exec = (command: string) => ({ exec: { command: [command] } })
    const { container, spec, metadata } = fusePod({
      profile: {
        imagePullSecrets: [{ name: 'of-all' }],
        volumes: [
          { name: 'a', emptyDir: {} },
          { name: 'unused', emptyDir: {} },
        ],
        fuse: {
          ...{
            image: 'base',
            imageTag: 'v1',
            imagePullPolicy: 'Always',
            command: ['mount'],
            args: ['base'],
            networkMode: 'ContainerNetwork',
          },
          env: [
            { name: 'A', value: 'base' },
            { name: 'B', value: 'base' },
          ],
          ports: [{ containerPort: 80 }],
          options: { uid: '1', debug: '' },
          resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } },
          nodeSelector: { disk: 'ssd' },
          livenessProbe: probe('/base'),
          readinessProbe: probe('/base'),
          lifecycle: { preStop: exec('base') },
          volumeMounts: [{ name: 'a', mountPath: '/a' }],
          podMetadata: { labels: { one: 'base', role: 'mine' }, annotations: { two: 'base' } },
        },
      },
      runtime: {
        volumes: [
          { name: 'a', configMap: { name: 'mine' } },
          { name: 'b', emptyDir: {} },
        ],
        fuse: {
          ...{ imageTag: 'v2', image: '', command: [], args: ['own'] },
          env: [
            { name: 'A', value: 'own' },
            { name: 'MOUNT_POINT', value: '/elsewhere' },
          ],
          ports: [{ containerPort: 80, name: 'http' }, { containerPort: 81 }],
          options: { uid: '2' },
          resources: { limits: { memory: '2Gi' } },
          readinessProbe: probe('/own'),
          volumeMounts: [
            { name: 'b', mountPath: '/b' },
            { name: 'b', mountPath: '/etc/fluid/config' },
          ],
          podMetadata: { labels: { one: 'own' } },
        },
      },
    })
    assert.deepEqual(
      [container.image, container.imagePullPolicy, container.command, container.args],
      ['base:v2', 'Always', ['mount'], ['own']],
    )
    const env = Object.fromEntries((container.env ?? []).map(({ name = '', value }) => [name, value]))
    assert.deepEqual([env.A, env.B, env.MOUNT_POINT, env.MOUNT_OPTIONS], ['own', 'base', TARGET, 'debug,ro,uid=2'])
    assert.equal(container.env?.length, new Set((container.env ?? []).map(({ name }) => name)).size)
    assert.deepEqual(container.ports, [{ containerPort: 80, name: 'http' }, { containerPort: 81 }])
    assert.deepEqual(container.resources, { limits: { cpu: '1', memory: '2Gi' }, requests: { cpu: '1' } })
    assert.deepEqual([container.livenessProbe, container.readinessProbe], [probe('/base'), probe('/own')])
    assert.deepEqual(container.lifecycle, { preStop: exec('base') })
    assert.deepEqual([spec.hostNetwork, spec.dnsPolicy, spec.imagePullSecrets], [undefined, undefined, [{ name: 'of-all' }]])
    assert.deepEqual(spec.nodeSelector, { disk: 'ssd', 'fluid.io/f-default-demo': 'true' })
    assert.deepEqual(
      (spec.volumes ?? []).map(({ name }) => name),
      ['a', 'b', 'thin-conf', 'thin-fuse-mount'],
    )
    assert.deepEqual(spec.volumes?.[0], { name: 'a', configMap: { name: 'mine' } })
    assert.equal(container.volumeMounts?.find(({ mountPath }) => mountPath === '/etc/fluid/config')?.name, 'thin-conf')
    assert.deepEqual([metadata.labels?.one, metadata.labels?.role, metadata.annotations?.two], ['own', 'thin-fuse', 'base'])
  })

  it('sees the Secrets, the directories of the node and the cache directory that are named', () => {
    const host = (text: string) => ({ 'fluid.fuse.hostvolume': text })
    const { container, spec } = fusePod({
      dataset: {
        accessModes: ['ReadWriteMany'],
        sharedOptions: host('/shared'),
        sharedEncryptOptions: [{ name: 'token', ...secret('all', 'token') }],
        mounts: [
          {
            mountPoint: 'nfs://a',
            name: 'a',
            options: host('/host:/inside'),
            encryptOptions: [{ name: 'key', ...secret('my.secret', 'key') }],
          },
          { mountPoint: 'nfs://b', name: 'b' },
          { mountPoint: 'nfs://c', name: 'c' },
        ],
      },
      runtime: { tieredstore: { levels: [{ mediumtype: 'SSD', volumeType: 'hostPath', path: '/cache,/cache2', quota: '2Gi' }] } },
    })
    const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]))
    const seen = Object.fromEntries(
      (container.volumeMounts ?? []).map(({ name = '', mountPath = '', readOnly }) => {
        const { hostPath, secret: of } = volumes.get(name) ?? {}
        return [mountPath, `${hostPath?.path ?? of?.secretName ?? name}${readOnly === true ? ' ro' : ''}`]
      }),
    )
    assert.deepEqual(seen, {
      '/inside': '/host',
      '/shared': '/shared',
      '/cache': '/cache',
      '/etc/fluid/secrets/all': 'all ro',
      '/etc/fluid/secrets/my.secret': 'my.secret ro',
      '/etc/fluid/config': 'thin-conf ro',
      '/runtime-mnt/thin/default/demo': '/runtime-mnt/thin/default/demo',
    })
    assert.deepEqual([...volumes.keys()].slice(0, 4), [
      'fluid-fuse-hostvolume-0',
      'fluid-fuse-hostvolume-1',
      'cache-dir',
      'thin-fuseconfig-all',
    ])
    // A name of a volume has no dots.
    assert.match([...volumes.keys()][4] ?? '', /^thin-fuseconfig-my-secret-[0-9a-f]{8}$/)
    assert.equal(
      (container.env ?? []).some(({ name }) => name === 'MOUNT_OPTIONS'),
      false,
    )
  })
})

describe('config.json of a ThinRuntime', () => {
  it('has the fields of Fluid, in its order, and files in place of secrets', () => {
    const prepared = preparedBy({
      profile: { fuse: { image: 'nfs', options: { of: 'profile' } } },
      runtime: { fuse: { options: { vers: '4' } } },
      dataset: {
        accessModes: ['ReadWriteMany'],
        sharedOptions: { b: 'shared', a: 'shared' },
        sharedEncryptOptions: [
          { name: 'token', ...secret('all', 'token') },
          { name: 'a', ...secret('all', 'a') },
        ],
        mounts: [
          {
            ...{ mountPoint: 'nfs://a', name: 'a', path: '/a', readOnly: true, shared: true },
            options: { a: 'own' },
            encryptOptions: [{ name: 'key', ...secret('mine', 'key') }],
          },
        ],
      },
    })
    assert.equal(
      prepared.objects.configMaps[0]?.data?.['config.json'],
      '{"mounts":[{"mountPoint":"nfs://a","options":{"a":"own","b":"shared","key":"/etc/fluid/secrets/mine/key","token":"/etc/fluid/secrets/all/token"},' +
        `"name":"a","path":"/a","readOnly":true,"shared":true}],"targetPath":"${TARGET}","runtimeOptions":{"vers":"4"},"accessModes":["ReadWriteMany"]}`,
    )
  })

  it('leaves out what is empty, but not the mounts', () => {
    assert.deepEqual(configIn(preparedBy({ dataset: {} })), { mounts: [], targetPath: TARGET, accessModes: ['ReadOnlyMany'] })
    assert.deepEqual(configIn(preparedBy()), { mounts: MOUNTS, targetPath: TARGET, accessModes: ['ReadOnlyMany'] })
  })
})

describe('the workers of a ThinRuntime', () => {
  it('are a set of their own container, apart from other workers', () => {
    const [set] = preparedBy({
      runtime: {
        replicas: 2,
        worker: {
          image: 'example.com/worker',
          imageTag: 'v1',
          enabled: true,
          nodeSelector: { disk: 'ssd' },
          env: [{ name: 'A', value: '1' }],
        },
        tieredstore: { levels: [{ mediumtype: 'MEM', volumeType: 'emptyDir', path: '/cache', quota: '1Gi' }] },
      },
      dataset: { mounts: MOUNTS, placement: 'Shared', tolerations: [{ key: 'gpu', operator: 'Exists' }] },
    }).objects.sets
    assert.deepEqual([set?.metadata.name, set?.spec.replicas], ['demo-worker', 2])
    const { container, spec, metadata } = podIn(set?.spec.template)
    assert.deepEqual(container, {
      name: 'thin-worker',
      image: 'example.com/worker:v1',
      imagePullPolicy: 'IfNotPresent',
      env: [{ name: 'A', value: '1' }],
      securityContext: { privileged: true },
      volumeMounts: [{ name: 'cache-dir', mountPath: '/cache' }],
    })
    // In Fluid's chart the volume of the cache directory is missing.
    assert.deepEqual(spec.volumes, [{ name: 'cache-dir', emptyDir: { medium: 'Memory' } }])
    assert.deepEqual([spec.nodeSelector, spec.tolerations], [{ disk: 'ssd' }, [{ key: 'gpu', operator: 'Exists' }]])
    assert.deepEqual([metadata.labels?.['fluid.io/dataset'], metadata.labels?.['fluid.io/dataset-placement']], ['default-demo', 'Shared'])
    assert.ok(spec.affinity?.podAntiAffinity !== undefined)
  })
})
