import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepFreeze } from '../../base/json.ts'
import { CLUSTER_SCOPED_BINDINGS, NAMESPACED_BINDINGS } from '../../kinds/karmada/binding-kinds.ts'
import type { Binding, BindingSpec } from '../../kinds/karmada/index.ts'
import { markedManifest } from '../../kinds/karmada/manifest-marks.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { pruneForMember } from '../interpreter/native/prune.ts'
import { completionsByCluster } from './job-completions.ts'
import { aBinding, aClusterRole, aDeployment, manifestOf, targets } from './testing.ts'
import { equalButForNulls, workChange } from './work-change.ts'
import { type WorkInput, workFor } from './work-for.ts'
import { workId } from './work-id.ts'

const stored = (object: KubeObject, more: Partial<KubeObject['metadata']> = {}): KubeObject =>
  deepFreeze({ ...object, metadata: { ...object.metadata, uid: 'u-1', resourceVersion: '7', generation: 3, ...more } })
const untouched = (object: KubeObject) => ({ object, annotations: {} })

function inputFor(template: KubeObject, spec: Partial<BindingSpec> = {}, more: Partial<WorkInput> = {}): WorkInput {
  const binding = deepFreeze(aBinding(template, spec)) as Binding
  const kind = template.metadata.namespace === undefined ? CLUSTER_SCOPED_BINDINGS : NAMESPACED_BINDINGS
  return { kind, binding, template, target: { name: 'member1' }, revised: template, override: untouched, ...more }
}

describe('the Work of a Deployment', () => {
  const template = stored(aDeployment('nginx'), {
    annotations: { note: 'mine' },
    ownerReferences: [],
    creationTimestamp: '2026-01-01T00:00:00Z',
  })
  const work = workFor(inputFor(template, { clusters: targets('member1') }))
  const id = workId('id-of-nginx', 'member1')

  it('is found by name, namespace, labels and annotations, and held until it is carried out', () => {
    assert.deepEqual(work.metadata, {
      name: 'nginx-687f7fb96f',
      namespace: 'karmada-es-member1',
      labels: { 'resourcebinding.karmada.io/permanent-id': 'id-of-nginx', 'work.karmada.io/permanent-id': id },
      annotations: {
        'resourcebinding.karmada.io/namespace': 'default',
        'resourcebinding.karmada.io/name': 'nginx-deployment',
        'work.karmada.io/conflict-resolution': 'abort',
      },
      finalizers: ['karmada.io/execution-controller'],
    })
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('brings the object with our marks and without what belongs to the hub', () => {
    assert.deepEqual(manifestOf(work).metadata, {
      name: 'nginx',
      namespace: 'default',
      labels: {
        app: 'nginx',
        'karmada.io/managed': 'true',
        'resourcebinding.karmada.io/permanent-id': 'id-of-nginx',
        'work.karmada.io/permanent-id': id,
      },
      annotations: {
        note: 'mine',
        'resourcetemplate.karmada.io/uid': 'u-1',
        'resourcetemplate.karmada.io/generation': '3',
        'resourcebinding.karmada.io/namespace': 'default',
        'resourcebinding.karmada.io/name': 'nginx-deployment',
        'work.karmada.io/namespace': 'karmada-es-member1',
        'work.karmada.io/name': 'nginx-687f7fb96f',
        'work.karmada.io/conflict-resolution': 'abort',
        'resourcetemplate.karmada.io/managed-annotations':
          'note,resourcebinding.karmada.io/name,resourcebinding.karmada.io/namespace,resourcetemplate.karmada.io/generation,resourcetemplate.karmada.io/managed-annotations,resourcetemplate.karmada.io/managed-labels,resourcetemplate.karmada.io/uid,work.karmada.io/conflict-resolution,work.karmada.io/name,work.karmada.io/namespace',
        'resourcetemplate.karmada.io/managed-labels':
          'app,karmada.io/managed,resourcebinding.karmada.io/permanent-id,work.karmada.io/permanent-id',
      },
    })
    assert.equal(manifestOf(work).status, undefined)
  })

  it('is for a cluster-scoped object the same with the other names', () => {
    const role = workFor(inputFor(stored(aClusterRole('system:foo'))))
    assert.equal(role.metadata.name, 'system.foo-5f7d88f69')
    assert.deepEqual(role.metadata.annotations, {
      'clusterresourcebinding.karmada.io/name': 'system.foo-clusterrole',
      'work.karmada.io/conflict-resolution': 'abort',
    })
    assert.equal(role.metadata.labels?.['clusterresourcebinding.karmada.io/permanent-id'], 'id-of-system:foo')
  })

  it('says nothing about a generation that there is not', () => {
    const map = stored({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } }, { generation: undefined })
    assert.equal(manifestOf(workFor(inputFor(map))).metadata.annotations?.['resourcetemplate.karmada.io/generation'], undefined)
  })
})

describe('what decides about a Work', () => {
  const template = stored(aDeployment('web'))
  const annotated = (value: string): KubeObject =>
    stored(aDeployment('web', 2, { annotations: { 'work.karmada.io/conflict-resolution': value } }))
  const conflict = (of: KubeObject, conflictResolution: 'Abort' | 'Overwrite'): string | undefined =>
    workFor(inputFor(of, { conflictResolution })).metadata.annotations?.['work.karmada.io/conflict-resolution']

  it('who wrote the object knows best what a conflict means, then the policy', () => {
    assert.equal(conflict(template, 'Abort'), 'abort')
    assert.equal(conflict(template, 'Overwrite'), 'overwrite')
    assert.equal(conflict(annotated('overwrite'), 'Abort'), 'overwrite')
    assert.equal(conflict(annotated('abort'), 'Overwrite'), 'abort')
    assert.equal(conflict(annotated('whatever'), 'Overwrite'), 'overwrite')
  })

  const flags: [string, Partial<BindingSpec>, { suspendDispatching: boolean; preserveResourcesOnDeletion: boolean }][] = [
    ['nothing is held back by itself', {}, { suspendDispatching: false, preserveResourcesOnDeletion: false }],
    ['all can be held back', { suspension: { dispatching: true } }, { suspendDispatching: true, preserveResourcesOnDeletion: false }],
    [
      'or one cluster',
      { suspension: { dispatchingOnClusters: { clusterNames: ['member1'] } } },
      { suspendDispatching: true, preserveResourcesOnDeletion: false },
    ],
    [
      'but not for another',
      { suspension: { dispatching: false, dispatchingOnClusters: { clusterNames: ['member2'] } } },
      { suspendDispatching: false, preserveResourcesOnDeletion: false },
    ],
    ['what stays says so', { preserveResourcesOnDeletion: true }, { suspendDispatching: false, preserveResourcesOnDeletion: true }],
  ]
  for (const [name, spec, expected] of flags)
    it(name, () => {
      const { workload: _, ...rest } = workFor(inputFor(template, spec)).spec
      assert.deepEqual(rest, expected)
    })

  it('overrides come last, see completions and replicas, and are noted on the Work alone', () => {
    const job = stored({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j', namespace: 'default' },
      spec: { completions: 9, parallelism: 2 },
    })
    let seen: unknown
    const override = (object: KubeObject) => {
      seen = object.spec
      return {
        object: { ...object, spec: { ...(object.spec as object), last: true } },
        annotations: { 'policy.karmada.io/applied-overrides': '[]' },
      }
    }
    const work = workFor(inputFor(job, {}, { completions: 4, override }))
    assert.deepEqual(seen, { completions: 4, parallelism: 2 })
    assert.deepEqual(manifestOf(work).spec, { completions: 4, parallelism: 2, last: true })
    assert.equal(work.metadata.annotations?.['policy.karmada.io/applied-overrides'], '[]')
    assert.equal(manifestOf(work).metadata.annotations?.['policy.karmada.io/applied-overrides'], undefined)
  })

  const task = (more: object) => ({
    fromCluster: 'old',
    reason: 'ApplicationFailure',
    producer: 'p',
    preservedLabelState: { job: '42' },
    ...more,
  })
  const preserved: [string, Partial<BindingSpec>, string | undefined][] = [
    ['state moves along when one copy takes over', { gracefulEvictionTasks: [task({ purgeMode: 'Directly' })] }, '42'],
    ['not when the old copy goes by and by', { gracefulEvictionTasks: [task({ purgeMode: 'Gracefully' })] }, undefined],
    [
      'not to where it was before',
      { gracefulEvictionTasks: [task({ purgeMode: 'Directly', clustersBeforeFailover: ['member1'] })] },
      undefined,
    ],
    [
      'not when there are several targets',
      { clusters: targets('member1', 'member2'), gracefulEvictionTasks: [task({ purgeMode: 'Directly' })] },
      undefined,
    ],
    [
      'only the last move counts',
      { gracefulEvictionTasks: [task({ purgeMode: 'Directly' }), task({ purgeMode: 'Directly', preservedLabelState: { job: '43' } })] },
      '43',
    ],
  ]
  for (const [name, spec, expected] of preserved)
    it(name, () => {
      const work = workFor(inputFor(template, { clusters: targets('member1'), ...spec } as Partial<BindingSpec>))
      assert.equal(manifestOf(work).metadata.labels?.job, expected)
    })
})

describe('completions of a Job', () => {
  const job = (completions?: number): KubeObject =>
    stored({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j', namespace: 'default' }, spec: { parallelism: 6, completions } })
  const spec = (type: 'Divided' | 'Duplicated', replicas = 6): BindingSpec =>
    aBinding(job(), { replicas, placement: { replicaScheduling: { replicaSchedulingType: type } } } as Partial<BindingSpec>).spec
  const on = targets(['a', 4], ['b', 2])

  it('are divided in proportion to replicas', () => {
    assert.deepEqual(
      [...completionsByCluster(job(9), spec('Divided'), on)],
      [
        ['a', 6],
        ['b', 3],
      ],
    )
  })
  it('stay as they are where nothing is divided', () => {
    for (const [of, how] of [
      [job(9), spec('Duplicated')],
      [job(), spec('Divided')],
      [job(9), spec('Divided', 0)],
    ] as const)
      assert.equal(completionsByCluster(of, how, on).size, 0)
    assert.equal(completionsByCluster(stored(aDeployment('a')), spec('Divided'), on).size, 0)
    assert.equal(completionsByCluster(job(9), spec('Divided'), targets(['a', 0], ['b', 0])).size, 0, 'nor where nobody has a share')
  })
})

describe('what has to change about a Work', () => {
  const template = stored(aDeployment('web'))
  const wanted = workFor(inputFor(template))
  const changed = (change: (work: typeof wanted) => unknown) => {
    const live = structuredClone(wanted)
    change(live)
    return workChange(live, wanted)
  }

  it('is nothing when it is as it should be, whatever others added', () => {
    assert.equal(
      changed(() => undefined),
      undefined,
    )
    assert.equal(
      changed((live) => {
        live.metadata.labels = { ...live.metadata.labels, theirs: 'x' }
        live.metadata.annotations = { ...live.metadata.annotations, theirs: 'x' }
        live.metadata.finalizers = ['theirs/finalizer', ...(live.metadata.finalizers ?? [])]
      }),
      undefined,
    )
  })

  it('is only what differs', () => {
    assert.deepEqual(
      changed((live) => void delete live.metadata.labels?.['resourcebinding.karmada.io/permanent-id']),
      {
        metadata: { labels: { 'resourcebinding.karmada.io/permanent-id': 'id-of-web' } },
      },
    )
    assert.deepEqual(
      changed(({ metadata }) => Object.assign(metadata, { finalizers: ['theirs'] })),
      {
        metadata: { finalizers: ['theirs', 'karmada.io/execution-controller'] },
      },
    )
    assert.deepEqual(
      changed(({ spec }) => Object.assign(spec, { suspendDispatching: true })),
      { spec: wanted.spec },
    )
  })

  it('takes away what is no longer said about overrides', () => {
    const patch = changed((live) => {
      live.metadata.annotations = { ...live.metadata.annotations, 'policy.karmada.io/applied-overrides': '[]', theirs: 'x' }
    })
    assert.deepEqual(patch, { metadata: { annotations: { 'policy.karmada.io/applied-overrides': null } } })
  })

  it('does not see nulls, which servers drop', () => {
    assert.ok(equalButForNulls([{ a: null, b: 1 }], [{ b: 1 }]))
    assert.ok(equalButForNulls({ b: 1 }, { a: null, b: 1 }))
    assert.ok(!equalButForNulls({ a: 0 }, {}))
    assert.ok(!equalButForNulls({ a: [1] }, { a: [1, 2] }))
    assert.ok(!equalButForNulls({ a: {} }, { a: [] }))
  })
})

const texts = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.string({ maxLength: 8 }), { maxKeys: 4 })
const kinds = fc.constantFrom('Deployment', 'Job', 'Service', 'Secret', 'ServiceAccount', 'PersistentVolumeClaim', 'Widget')
const anyTemplate = fc
  .record({
    kind: kinds,
    labels: texts,
    annotations: texts,
    generation: fc.nat(9),
    spec: fc.dictionary(
      fc.constantFrom('clusterIP', 'clusterIPs', 'replicas', 'completions', 'ttlSecondsAfterFinished', 'other'),
      fc.jsonValue(),
    ),
    data: fc.jsonValue(),
  })
  .map(
    ({ kind, labels, annotations, generation, spec, data }): KubeObject => ({
      apiVersion: 'v1',
      kind,
      metadata: {
        name: 'any',
        namespace: 'default',
        labels,
        annotations: { ...annotations, 'deployment.kubernetes.io/revision': '3' },
        generation,
        uid: 'u',
        resourceVersion: '1',
        finalizers: ['x/y'],
      },
      spec,
      data,
      status: { phase: 'Bound' },
    }),
  )

describe('for any template', () => {
  it('the manifest of a Work is a fixed point of pruning and of marking, and the Work of itself', () => {
    fc.assert(
      fc.property(anyTemplate, fc.integer({ min: 0, max: 9 }), (template, completions) => {
        const input = inputFor(deepFreeze(template), {}, { completions })
        const work = workFor(input)
        const manifest = manifestOf(work)
        assert.deepEqual(pruneForMember(manifest), manifest)
        assert.deepEqual(markedManifest(manifest, work.metadata.labels?.['work.karmada.io/permanent-id'] ?? ''), manifest)
        assert.deepEqual(workFor(input), work)
        assert.equal(workChange(work, work), undefined)
      }),
    )
  })

  it('what pruning takes away is not recorded as ours', () => {
    const work = workFor(inputFor(stored(aDeployment('web', 2, { annotations: { 'deployment.kubernetes.io/revision': '1' } }))))
    const managed = manifestOf(work).metadata.annotations?.['resourcetemplate.karmada.io/managed-annotations'] ?? ''
    assert.ok(!managed.includes('deployment.kubernetes.io/revision'))
  })
})
