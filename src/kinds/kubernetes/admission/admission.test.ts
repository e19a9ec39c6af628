import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deepClone, deepFreeze } from '../../../base/json.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { StatusError } from '../../../kube/status.ts'
import type { Admission, AdmissionContext, AdmissionRequest } from '../../admission.ts'
import { builtinAdmission } from './index.ts'

const NOW_MS = Date.parse('2025-06-01T10:20:30Z')

type Stored = { group?: string; resource: string; object: Record<string, unknown> & { metadata: KubeObject['metadata'] } }

function worldOf(...stored: Stored[]) {
  const objects = new Map<string, KubeObject>()
  const key = (of: { group?: string; resource: string }, namespace = '', name = ''): string =>
    `${of.group ?? ''}/${of.resource}/${namespace}/${name}`
  const put = ({ group, resource, object }: Stored): void => {
    const { namespace, name } = object.metadata
    objects.set(key({ group, resource }, namespace, name), deepFreeze({ apiVersion: 'v1', kind: 'X', ...deepClone(object) } as KubeObject))
  }
  put({ resource: 'namespaces', object: { metadata: { name: 'n' }, status: { phase: 'Active' } } })
  for (const one of stored) put(one)
  const context: AdmissionContext = {
    read: {
      get: (of, namespace, name) => objects.get(key(of, namespace, name)),
      list: (of, namespace) =>
        [...objects]
          .filter(([k]) => k.startsWith(`${of.group}/${of.resource}/${namespace === undefined ? '' : `${namespace}/`}`))
          .map(([, o]) => o),
    },
    nowMs: NOW_MS,
    newUid: () => assert.fail('nothing here needs one'),
    authorMay: () => assert.fail('nothing here asks for rights'),
    warn: () => {},
    async adjust(of, namespace, name, change) {
      const copy = deepClone(objects.get(key(of, namespace, name)))
      if (copy !== undefined && change(copy)) objects.set(key(of, namespace, name), deepFreeze(copy))
    },
  }
  return { context, put, get: (resource: string, name: string, namespace = 'n') => objects.get(key({ resource }, namespace, name)) }
}

type World = ReturnType<typeof worldOf>

const KINDS: Record<string, string> = {
  pods: 'Pod',
  configmaps: 'ConfigMap',
  services: 'Service',
  persistentvolumeclaims: 'PersistentVolumeClaim',
}

function requestOf(resource: string, object: Record<string, unknown>, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  const full = {
    apiVersion: 'v1',
    kind: KINDS[resource] ?? 'X',
    metadata: { name: 'a', namespace: 'n' },
    ...object,
  } as unknown as KubeObject
  return {
    operation: 'CREATE',
    group: '',
    version: 'v1',
    kind: full.kind,
    resource,
    subresource: '',
    namespace: 'n',
    name: full.metadata.name ?? '',
    object: full,
    user: { name: 'u', groups: [] },
    dryRun: false,
    ...more,
  }
}

const all = (): readonly Admission[] => builtinAdmission({ serviceAccount: true, storageProtection: true })

async function admit(world: World, request: AdmissionRequest, names?: string[], admissions = all()): Promise<KubeObject> {
  const sees = (one: Admission): boolean =>
    one.operations.includes(request.operation) &&
    one.resources.some((of) => (of.group === '*' || of.group === request.group) && ['*', '*/*', request.resource].includes(of.resource))
  const seen = admissions.filter((one) => sees(one) && (names === undefined || names.includes(one.name)))
  for (const one of seen) await one.mutate?.(request, world.context)
  for (const one of seen) await one.validate?.(request, world.context)
  assert.ok(request.object)
  return request.object
}

async function refusal(run: Promise<unknown>): Promise<string> {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof StatusError, 'it was let in')
  return error.status.message ?? ''
}

const container = (name: string, resources: Record<string, unknown> = {}) => ({ name, image: 'i', resources })
const podOf = (spec: Record<string, unknown>) => ({ spec: { containers: [container('c')], ...spec } })

describe('NamespaceLifecycle', () => {
  it('needs the namespace, and lets nothing new into one that ends', async () => {
    const world = worldOf({ resource: 'namespaces', object: { metadata: { name: 'going' }, status: { phase: 'Terminating' } } })
    assert.equal(await refusal(admit(world, requestOf('configmaps', {}, { namespace: 'none' }))), 'namespaces "none" not found')
    const going = requestOf('configmaps', {}, { namespace: 'going' })
    assert.match(await refusal(admit(world, going)), /^configmaps "a" is forbidden: unable to create new content in namespace going/)
    await admit(world, requestOf('configmaps', {}, { namespace: 'going', operation: 'UPDATE' }), ['NamespaceLifecycle'])
  })
})

describe('ServiceAccount', () => {
  const account = {
    resource: 'serviceaccounts',
    object: { metadata: { name: 'default', namespace: 'n' }, imagePullSecrets: [{ name: 'p' }] },
  }

  it('gives a pod the default account, its token and its pull secrets', async () => {
    const pod = (await admit(worldOf(account), requestOf('pods', podOf({})), ['ServiceAccount'])) as KubeObject & {
      spec: Record<string, unknown>
    }
    const { spec } = pod
    assert.equal(spec.serviceAccountName, 'default')
    assert.equal(spec.serviceAccount, 'default')
    assert.deepEqual(spec.imagePullSecrets, [{ name: 'p' }])
    const [volume] = spec.volumes as { name: string }[]
    assert.match(volume?.name ?? '', /^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    const [first] = spec.containers as { volumeMounts: unknown[] }[]
    assert.deepEqual(first?.volumeMounts, [
      { name: volume?.name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ])
  })

  it('refuses a pod whose account is missing, and mounts nothing where nobody wants it', async () => {
    const said = await refusal(admit(worldOf(), requestOf('pods', podOf({})), ['ServiceAccount']))
    assert.equal(said, 'pods "a" is forbidden: error looking up service account n/default: serviceaccount "default" not found')
    const pod = await admit(worldOf(account), requestOf('pods', podOf({ automountServiceAccountToken: false })), ['ServiceAccount'])
    assert.equal((pod.spec as Record<string, unknown>).volumes, undefined)
  })
})

describe('LimitRanger', () => {
  const range = (limit: Record<string, unknown>) => ({
    resource: 'limitranges',
    object: { metadata: { name: 'l', namespace: 'n' }, spec: { limits: [limit] } },
  })

  it('fills in what containers do not say, and says so', async () => {
    const world = worldOf(range({ type: 'Container', default: { cpu: '500m' }, defaultRequest: { cpu: '100m', memory: '1Mi' } }))
    const pod = await admit(world, requestOf('pods', podOf({ initContainers: [container('i', { limits: { cpu: '1' } })] })), [
      'LimitRanger',
    ])
    assert.equal(
      pod.metadata.annotations?.['kubernetes.io/limit-ranger'],
      'LimitRanger plugin set: cpu, memory request for container c; cpu limit for container c; cpu, memory request for init container i',
    )
  })

  it('holds pods, containers and claims to their bounds', async () => {
    const tooSmall = worldOf(range({ type: 'Container', min: { cpu: '100m' }, max: { cpu: '1' } }))
    assert.equal(
      await refusal(
        admit(tooSmall, requestOf('pods', { spec: { containers: [container('c', { requests: { cpu: '50m' }, limits: { cpu: '2' } })] } }), [
          'LimitRanger',
        ]),
      ),
      'pods "a" is forbidden: [minimum cpu usage per Container is 100m, but request is 50m, maximum cpu usage per Container is 1, but limit is 2]',
    )
    const perPod = worldOf(range({ type: 'Pod', max: { memory: '1Gi' } }))
    const half = { limits: { memory: '600Mi' }, requests: { memory: '600Mi' } }
    assert.match(
      await refusal(
        admit(perPod, requestOf('pods', { spec: { containers: [container('c', half), container('d', half)] } }), ['LimitRanger']),
      ),
      /maximum memory usage per Pod is 1Gi, but limit is 1200Mi/,
    )
    const claim = { spec: { resources: { requests: { storage: '5Gi' } } } }
    assert.match(
      await refusal(
        admit(worldOf(range({ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } })), requestOf('persistentvolumeclaims', claim), [
          'LimitRanger',
        ]),
      ),
      /maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 5Gi/,
    )
    const ratio = worldOf(range({ type: 'Container', maxLimitRequestRatio: { cpu: '2' } }))
    assert.match(
      await refusal(
        admit(ratio, requestOf('pods', { spec: { containers: [container('c', { requests: { cpu: '1' }, limits: { cpu: '3' } })] } }), [
          'LimitRanger',
        ]),
      ),
      /cpu max limit to request ratio per Container is 2, but provided ratio is 3\.000000/,
    )
  })
})

describe('Priority and RuntimeClass', () => {
  const classOf = (name: string, value: number, more: Record<string, unknown> = {}) => ({
    group: 'scheduling.k8s.io',
    resource: 'priorityclasses',
    object: { metadata: { name }, value, ...more },
  })

  it('takes the default class with the lowest value', async () => {
    const world = worldOf(
      classOf('high', 9, { globalDefault: true }),
      classOf('low', 3, { globalDefault: true, preemptionPolicy: 'Never' }),
    )
    const pod = await admit(world, requestOf('pods', podOf({})), ['Priority'])
    const { priorityClassName, priority, preemptionPolicy } = pod.spec as Record<string, unknown>
    assert.deepEqual(
      { priorityClassName, priority, preemptionPolicy },
      { priorityClassName: 'low', priority: 3, preemptionPolicy: 'Never' },
    )
  })

  it('adds what a runtime costs, and refuses another figure', async () => {
    const world = worldOf({
      group: 'node.k8s.io',
      resource: 'runtimeclasses',
      object: { metadata: { name: 'r' }, handler: 'h', overhead: { podFixed: { cpu: '100m' } }, scheduling: { nodeSelector: { k: 'v' } } },
    })
    const pod = await admit(world, requestOf('pods', podOf({ runtimeClassName: 'r' })), ['RuntimeClass'])
    const { overhead, nodeSelector } = pod.spec as Record<string, unknown>
    assert.deepEqual({ overhead, nodeSelector }, { overhead: { cpu: '100m' }, nodeSelector: { k: 'v' } })
    assert.match(
      await refusal(admit(world, requestOf('pods', podOf({ runtimeClassName: 'r', overhead: { cpu: '2' } })), ['RuntimeClass'])),
      /doesn't match RuntimeClass's/,
    )
    assert.match(
      await refusal(admit(world, requestOf('pods', podOf({ overhead: { cpu: '2' } })), ['RuntimeClass'])),
      /Overhead set without corresponding RuntimeClass/,
    )
    assert.match(
      await refusal(admit(world, requestOf('pods', podOf({ runtimeClassName: 'r', nodeSelector: { k: 'w' } })), ['RuntimeClass'])),
      /^pods "a" is forbidden: conflict: /,
    )
  })
})

describe('PodSecurity', () => {
  const namespace = (labels: Record<string, string>) => ({
    resource: 'namespaces',
    object: { metadata: { name: 'n', labels }, status: { phase: 'Active' } },
  })
  const only = ['PodSecurity']

  it('refuses what the enforced standard forbids, in the words of the real server', async () => {
    const world = worldOf(namespace({ 'pod-security.kubernetes.io/enforce': 'baseline' }))
    const spec = {
      hostNetwork: true,
      hostPID: true,
      volumes: [{ name: 'v', hostPath: { path: '/' } }],
      containers: [
        {
          ...container('c'),
          securityContext: { privileged: true, capabilities: { add: ['NET_ADMIN'] } },
          ports: [{ containerPort: 80, hostPort: 80 }],
        },
      ],
    }
    assert.equal(
      await refusal(admit(world, requestOf('pods', { spec }), only)),
      'pods "a" is forbidden: violates PodSecurity "baseline:latest": non-default capabilities (container "c" must not include "NET_ADMIN" in securityContext.capabilities.add), host namespaces (hostNetwork=true, hostPID=true), hostPath volumes (volume "v"), hostPort (container "c" uses hostPort 80), privileged (container "c" must not set securityContext.privileged=true)',
    )
    await admit(world, requestOf('pods', podOf({})), only)
  })

  it('warns about the rest, and lets a careful pod pass', async () => {
    const world = worldOf(namespace({ 'pod-security.kubernetes.io/warn': 'restricted' }))
    const warnings: string[] = []
    world.context.warn = (message) => warnings.push(message)
    await admit(world, requestOf('pods', podOf({})), only)
    assert.deepEqual(warnings, [
      'would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ])
    const careful = {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    }
    await admit(world, requestOf('pods', { spec: { containers: [{ ...container('c'), securityContext: careful }] } }), only)
    assert.equal(warnings.length, 1)
  })
})

describe('classes', () => {
  const storageClass = (name: string, created: string, more: Record<string, unknown> = {}) => ({
    group: 'storage.k8s.io',
    resource: 'storageclasses',
    object: {
      metadata: { name, creationTimestamp: created, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      ...more,
    },
  })

  it('gives a claim the newest default class, unless it wants none', async () => {
    const world = worldOf(storageClass('old', '2024-01-01T00:00:00Z'), storageClass('new', '2025-01-01T00:00:00Z'))
    const claim = await admit(world, requestOf('persistentvolumeclaims', { spec: {} }), [
      'DefaultStorageClass',
      'StorageObjectInUseProtection',
    ])
    assert.deepEqual(claim.spec, { storageClassName: 'new' })
    assert.deepEqual(claim.metadata.finalizers, ['kubernetes.io/pvc-protection'])
    const none = await admit(world, requestOf('persistentvolumeclaims', { spec: { storageClassName: '' } }), ['DefaultStorageClass'])
    assert.deepEqual(none.spec, { storageClassName: '' })
  })

  it('grows only bound claims of a class that allows it', async () => {
    const claim = (storage: string, phase: string) => ({
      spec: { storageClassName: 's', resources: { requests: { storage } } },
      status: { phase },
    })
    const grow = (world: World, phase: string) =>
      admit(
        world,
        requestOf('persistentvolumeclaims', claim('2Gi', phase), {
          operation: 'UPDATE',
          oldObject: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'a' }, ...claim('1Gi', phase) },
        }),
        ['PersistentVolumeClaimResize'],
      )
    const fixed = worldOf(storageClass('s', ''))
    assert.match(await refusal(grow(fixed, 'Pending')), /Only bound persistent volume claims can be expanded/)
    assert.match(await refusal(grow(fixed, 'Bound')), /only dynamically provisioned pvc can be resized/)
    await grow(worldOf(storageClass('s', '', { allowVolumeExpansion: true })), 'Bound')
  })
})

describe('ResourceQuota', () => {
  const quota = (name: string, hard: Record<string, string>, used: Record<string, string>, spec: Record<string, unknown> = {}) => ({
    resource: 'resourcequotas',
    object: { metadata: { name, namespace: 'n' }, spec: { hard, ...spec }, status: { hard, used } },
  })
  const only = ['ResourceQuota']
  const used = (world: World, name = 'q') => (world.get('resourcequotas', name)?.status as { used: unknown } | undefined)?.used

  it('charges what fits and refuses what does not', async () => {
    const world = worldOf(quota('q', { configmaps: '2', 'count/configmaps': '5' }, { configmaps: '0', 'count/configmaps': '4' }))
    await admit(world, requestOf('configmaps', {}), only)
    assert.deepEqual(used(world), { configmaps: '1', 'count/configmaps': '5' })
    assert.equal(
      await refusal(admit(world, requestOf('configmaps', {}), only)),
      'configmaps "a" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=5, limited: count/configmaps=5',
    )
    assert.deepEqual(used(world), { configmaps: '1', 'count/configmaps': '5' })
  })

  it('counts what pods ask for, with sidecars, init peaks and extended resources', async () => {
    const world = worldOf(
      quota(
        'q',
        { pods: '9', 'requests.cpu': '4', 'limits.memory': '4Gi', 'requests.example.com/gpu': '3' },
        { pods: '0', 'requests.cpu': '0', 'limits.memory': '0', 'requests.example.com/gpu': '0' },
      ),
    )
    const asks = (cpu: string) => ({ requests: { cpu, 'example.com/gpu': '1' }, limits: { memory: '1Gi', 'example.com/gpu': '1' } })
    const spec = {
      containers: [container('c', asks('500m'))],
      initContainers: [{ ...container('s', asks('250m')), restartPolicy: 'Always' }, container('i', asks('1'))],
    }
    await admit(world, requestOf('pods', { spec }), only)
    assert.deepEqual(used(world), { 'limits.memory': '2Gi', pods: '1', 'requests.cpu': '1250m', 'requests.example.com/gpu': '2' })
    assert.match(
      await refusal(admit(world, requestOf('pods', { spec: { containers: [container('c'), container('d')] } }), only)),
      /failed quota: q: must specify limits\.memory for: c,d; requests\.cpu for: c,d$/,
    )
  })

  it('knows scopes, and refuses to guess', async () => {
    const best = worldOf(quota('q', { pods: '0' }, { pods: '0' }, { scopes: ['BestEffort'] }))
    assert.match(
      await refusal(admit(best, requestOf('pods', podOf({})), only)),
      /exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0/,
    )
    await admit(best, requestOf('pods', { spec: { containers: [container('c', { requests: { cpu: '1' } })] } }), only)
    const priority = { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] } }
    const scoped = worldOf(quota('q', { pods: '0' }, { pods: '0' }, priority))
    await admit(scoped, requestOf('pods', podOf({ priorityClassName: 'low' })), only)
    assert.match(await refusal(admit(scoped, requestOf('pods', podOf({ priorityClassName: 'high' })), only)), /exceeded quota/)
    const unknown = worldOf(quota('q', { pods: '5' }, {}))
    assert.match(await refusal(admit(unknown, requestOf('pods', podOf({})), only)), /status unknown for quota: q, resources: pods/)
  })

  it('charges only the difference when something grows, and nothing in a dry run', async () => {
    const world = worldOf(quota('q', { 'services.nodeports': '3', services: '2' }, { 'services.nodeports': '1', services: '1' }))
    const service = (ports: number) => ({ spec: { type: 'NodePort', ports: Array.from({ length: ports }, (_, i) => ({ port: i + 1 })) } })
    const oldObject = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', resourceVersion: '1' }, ...service(1) } as KubeObject
    await admit(world, requestOf('services', service(3), { operation: 'UPDATE', oldObject, dryRun: true }), only)
    assert.deepEqual(used(world), { 'services.nodeports': '1', services: '1' })
    await admit(world, requestOf('services', service(3), { operation: 'UPDATE', oldObject }), only)
    assert.deepEqual(used(world), { services: '1', 'services.nodeports': '3' })
    const claims = worldOf(
      quota(
        'q',
        { 'gold.storageclass.storage.k8s.io/requests.storage': '1Gi' },
        { 'gold.storageclass.storage.k8s.io/requests.storage': '0' },
      ),
    )
    const claim = { spec: { storageClassName: 'gold', resources: { requests: { storage: '2Gi' } } } }
    assert.match(
      await refusal(admit(claims, requestOf('persistentvolumeclaims', claim), only)),
      /requested: gold\.storageclass\.storage\.k8s\.io\/requests\.storage=2Gi/,
    )
  })

  it('charges nobody when one of several quotas refuses', async () => {
    const world = worldOf(quota('a', { configmaps: '9' }, { configmaps: '0' }), quota('b', { configmaps: '0' }, { configmaps: '0' }))
    await refusal(admit(world, requestOf('configmaps', {}), only))
    assert.deepEqual(used(world, 'a'), { configmaps: '0' })
  })
})

describe('ServiceAddresses', () => {
  const only = ['ServiceAddresses']
  const serviceOf = (name: string, spec: Record<string, unknown>) => ({
    metadata: { name, namespace: 'n' },
    spec: { type: 'ClusterIP', ports: [{ port: 80, protocol: 'TCP' }], ...spec },
  })

  it('never gives one address or port twice, stored or still on its way', async () => {
    const world = worldOf()
    const admissions = builtinAdmission({
      serviceAccount: false,
      storageProtection: false,
      services: { clusterIpRange: '10.1.0.0/28', nodePortRange: { first: 31000, last: 31003 } },
    })
    const ips = new Set<string>()
    const ports = new Set<number>()
    for (let i = 0; i < 4; i++) {
      const service = await admit(world, requestOf('services', serviceOf(`s${i}`, { type: 'NodePort' })), only, admissions)
      const spec = service.spec as { clusterIP: string; ports: { nodePort: number }[] }
      ips.add(spec.clusterIP)
      ports.add(spec.ports[0]?.nodePort ?? 0)
      if (i % 2 === 0) world.put({ resource: 'services', object: service as never })
    }
    assert.equal(ips.size, 4)
    assert.deepEqual([...ports].sort(), [31000, 31001, 31002, 31003])
    assert.match(
      await refusal(admit(world, requestOf('services', serviceOf('x', { type: 'NodePort' })), only, admissions)),
      /failed to allocate a nodePort: range is full/,
    )
  })

  it('takes what is asked for, and says why it cannot', async () => {
    const world = worldOf({
      resource: 'services',
      object: serviceOf('taken', {
        clusterIP: '10.0.0.10',
        clusterIPs: ['10.0.0.10'],
        type: 'NodePort',
        ports: [{ port: 1, nodePort: 30001 }],
      }),
    })
    const asks = (spec: Record<string, unknown>) => admit(world, requestOf('services', serviceOf('a', spec)), only)
    assert.match(await refusal(asks({ clusterIP: '10.0.0.10' })), /failed to allocate IP 10\.0\.0\.10: provided IP is already allocated/)
    assert.match(
      await refusal(asks({ type: 'NodePort', ports: [{ port: 80, nodePort: 30001 }] })),
      /spec\.ports\[0\]\.nodePort: Invalid value: 30001: provided port is already allocated/,
    )
    const both = await asks({
      type: 'NodePort',
      ports: [
        { port: 53, protocol: 'TCP' },
        { port: 53, protocol: 'UDP' },
      ],
    })
    const [tcp, udp] = (both.spec as { ports: { nodePort: number }[] }).ports
    assert.equal(tcp?.nodePort, udp?.nodePort)
  })

  it('looks at no other Service for one that needs nothing of its own', async () => {
    const world = worldOf()
    world.context.read.list = () => assert.fail('there may be thousands of them')
    const headless = await admit(world, requestOf('services', serviceOf('a', { clusterIP: 'None', clusterIPs: ['None'] })), only)
    assert.equal((headless.spec as { clusterIP: string }).clusterIP, 'None')
  })

  it('keeps addresses across changes and drops ports with their type', async () => {
    const world = worldOf()
    const made = await admit(world, requestOf('services', serviceOf('a', { type: 'NodePort' })), only)
    world.put({ resource: 'services', object: made as never })
    const change = serviceOf('a', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: true, externalTrafficPolicy: 'Local' })
    const changed = await admit(world, requestOf('services', change, { operation: 'UPDATE', oldObject: deepFreeze(deepClone(made)) }), only)
    const [before, after] = [made, changed].map(
      (one) => one.spec as { clusterIP: string; ports: { nodePort: number }[]; healthCheckNodePort?: number },
    )
    assert.equal(after?.clusterIP, before?.clusterIP)
    assert.equal(after?.ports[0]?.nodePort, before?.ports[0]?.nodePort)
    assert.ok((after?.healthCheckNodePort ?? 0) >= 30000)
  })
})
