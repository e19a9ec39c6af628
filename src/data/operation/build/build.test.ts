import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { OperationKind } from '../../../kinds/fluid/operation-parts.ts'
import type { Container, Job, PodSpec } from '../../../kinds/kubernetes/types.ts'
import { aDataset, anOperation, KINDS } from '../testing.ts'
import { type BuildInput, build, type OperationProgram } from './index.ts'
import { zonedSchedule } from './workload.ts'

const program: OperationProgram = {
  image: 'engine:1',
  command: ['engine', 'do'],
  config: { configMap: 'fluid-runtime-config-demo', file: 'runtime.json' },
}
const input = (kind: OperationKind, spec: object = {}, more: Partial<BuildInput> = {}): BuildInput => ({
  operation: anOperation(kind, { spec, metadata: { uid: 'o-1' } }),
  dataset: aDataset(),
  runtimeType: 'cache',
  program,
  ...more,
})
const workloadOf = (...of: Parameters<typeof input>) => {
  const { workload, refused } = build(input(...of))
  assert.equal(refused, undefined)
  assert.ok(workload !== undefined)
  return workload
}
const jobOf = (...of: Parameters<typeof input>): Job => {
  const { job } = workloadOf(...of)
  assert.ok(job !== undefined)
  return job
}
const podOf = (job: Job): PodSpec => job.spec?.template?.spec ?? {}
const containerOf = (job: Job): Container => podOf(job).containers?.[0] ?? {}
const envOf = (job: Job): Record<string, string | undefined> =>
  Object.fromEntries((containerOf(job).env ?? []).map(({ name = '', value }) => [name, value]))

describe('the Job of an operation', () => {
  const NAMES: Record<OperationKind, string> = {
    DataLoad: 'one-loader-job one-loader dataload-job cache',
    DataMigrate: 'one-migrate-migrate one-migrate datamigrate-job cache',
    DataBackup: 'one-pod one-charts databackup-job cache',
    DataProcess: 'one-processor-job one-processor dataprocess-job fluid-dataprocess one-processor-scripts',
  }
  for (const kind of KINDS)
    it(`has the names, labels and limits of Fluid: ${kind}`, () => {
      const { job, configMap, cronJob } = workloadOf(kind)
      const { labels = {}, name, ownerReferences } = job?.metadata ?? {}
      assert.equal([name, labels.release, labels.role, labels.app, configMap?.metadata.name].join(' ').trim(), NAMES[kind])
      assert.equal(labels.targetDataset, 'demo')
      assert.equal(labels['fluid.io/dataset-id'], 'default-demo')
      assert.deepEqual(ownerReferences, [
        { apiVersion: 'data.fluid.io/v1alpha1', kind, name: 'one', uid: 'o-1', controller: true, blockOwnerDeletion: false },
      ])
      const { template, ...limits } = job?.spec ?? {}
      assert.deepEqual(limits, { backoffLimit: 3, completions: 1, parallelism: 1 })
      assert.equal(template?.spec?.restartPolicy, 'Never')
      assert.equal(template?.metadata?.labels?.role, labels.role?.replace(/job$/, 'pod'))
      assert.equal(template?.metadata?.annotations?.['sidecar.istio.io/inject'], 'false')
      assert.equal(cronJob, undefined)
    })

  for (const kind of ['DataLoad', 'DataMigrate', 'DataProcess'] as const)
    it(`is made by a CronJob in its time zone: ${kind}`, () => {
      const { cronJob, job } = workloadOf(kind, { policy: 'Cron', schedule: 'CRON_TZ=Europe/Berlin 0 3 * * *' })
      assert.equal(job, undefined)
      const { schedule, timeZone, concurrencyPolicy, jobTemplate } = cronJob?.spec ?? {}
      assert.deepEqual([schedule, timeZone, concurrencyPolicy], ['0 3 * * *', 'Europe/Berlin', 'Forbid'])
      const { labels = {}, name } = cronJob?.metadata ?? {}
      assert.match(labels.role ?? '', /-cronjob$/)
      assert.equal(labels['fluid.io/jobPolicy'], 'cron')
      assert.equal(jobTemplate?.metadata?.labels?.cronjob, name)
      assert.equal(jobTemplate?.spec?.template?.metadata?.labels?.cronjob, name)
    })

  it('says at which port its program serves its progress', () => {
    const of = { program: { ...program, progressPort: 19_453 } }
    const annotations = { 'sluice.dev/progress-port': '19453' }
    assert.deepEqual(jobOf('DataLoad', {}, of).metadata.annotations, annotations)
    assert.deepEqual(
      workloadOf('DataLoad', { policy: 'Cron', schedule: '0 3 * * *' }, of).cronJob?.spec?.jobTemplate?.metadata?.annotations,
      annotations,
    )
    assert.equal(jobOf('DataLoad').metadata.annotations, undefined)
  })

  it('cannot be taken for another by labels that its author gives', () => {
    const job = jobOf('DataLoad', { podMetadata: { labels: { role: 'mine', own: 'yes' }, annotations: { own: 'too' } } })
    const { labels, annotations } = job.spec?.template?.metadata ?? {}
    assert.equal(labels?.role, 'dataload-pod')
    assert.equal(labels?.own, 'yes')
    assert.equal(annotations?.own, 'too')
  })

  it('runs where the spec says, and where the predecessor ran', () => {
    const term = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }] }
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } }
    const spec = {
      nodeSelector: { disk: 'ssd' },
      schedulerName: 'own',
      tolerations: [{ operator: 'Exists' }],
      affinity: { podAntiAffinity: {} },
    }
    const pod = podOf(jobOf('DataLoad', spec, { nodeAffinity }))
    assert.deepEqual([pod.nodeSelector, pod.schedulerName, pod.tolerations], [spec.nodeSelector, 'own', spec.tolerations])
    assert.deepEqual(pod.affinity, { podAntiAffinity: {}, nodeAffinity })
  })

  it('has a time zone only where the schedule names one', () => {
    assert.deepEqual(zonedSchedule('@every 1h'), { times: '@every 1h' })
    assert.deepEqual(zonedSchedule('TZ=UTC  * * * * *'), { zone: 'UTC', times: '* * * * *' })
  })
})

describe('a DataLoad', () => {
  it('tells the program of the engine what to load, and where the configuration is', () => {
    const target = [
      { path: '/a', replicas: 2 },
      { path: '/b', replicas: 0 },
    ]
    const job = jobOf('DataLoad', { target, loadMetadata: true, options: { bandwidth: '10Mi' }, resources: { limits: { cpu: 1 } } })
    assert.deepEqual(envOf(job), {
      POD_IP: undefined,
      FLUID_DATASET_NAMESPACE: 'default',
      FLUID_DATASET_NAME: 'demo',
      FLUID_RUNTIME_CONFIG_PATH: '/etc/fluid/config/runtime.json',
      FLUID_DATALOAD_METADATA: 'true',
      FLUID_DATALOAD_DATA_PATH: '/a:/b',
      FLUID_DATALOAD_PATH_REPLICAS: '2:1',
      SLUICE_LOAD_BANDWIDTH: '10Mi',
    })
    const { name, image, command, volumeMounts, resources } = containerOf(job)
    assert.deepEqual([name, image, command, resources], ['dataloader', 'engine:1', ['engine', 'do'], { limits: { cpu: 1 } }])
    assert.deepEqual(podOf(job).volumes, [{ name: 'fluid-runtime-config', configMap: { name: 'fluid-runtime-config-demo' } }])
    assert.equal(volumeMounts?.[0]?.mountPath, '/etc/fluid/config')
  })
  it('loads everything when it names nothing', () => {
    const env = envOf(jobOf('DataLoad'))
    assert.deepEqual([env.FLUID_DATALOAD_DATA_PATH, env.FLUID_DATALOAD_PATH_REPLICAS, env.FLUID_DATALOAD_METADATA], ['/', '1', 'false'])
  })
})

describe('a DataMigrate', () => {
  const described = (job: Job) => {
    const { SLUICE_MIGRATE_FROM: from = '', SLUICE_MIGRATE_TO: to = '' } = envOf(job)
    return { from: JSON.parse(from), to: JSON.parse(to) }
  }
  const dataset = { name: 'demo', namespace: 'default', path: 'sub/dir/' }
  it('mounts claims and directories, the source read-only, and says where', () => {
    const job = jobOf('DataMigrate', {
      from: { externalStorage: { uri: 'pvc://raw/in' } },
      to: { dataset },
      parallelism: 4,
      options: { delete: 'true' },
    })
    assert.deepEqual(described(job), {
      from: { uri: 'pvc://raw/in', path: '/fluid/from', subPath: 'in' },
      to: { uri: 'dataset://default/demo/sub/dir', path: '/fluid/to', subPath: 'sub/dir' },
    })
    const { SLUICE_MIGRATE_PARALLELISM, SLUICE_MIGRATE_DELETE } = envOf(job)
    assert.deepEqual([SLUICE_MIGRATE_PARALLELISM, SLUICE_MIGRATE_DELETE], ['4', 'true'])
    assert.deepEqual(podOf(job).volumes?.slice(-2), [
      { name: 'from', persistentVolumeClaim: { claimName: 'raw', readOnly: true } },
      { name: 'to', persistentVolumeClaim: { claimName: 'demo' } },
    ])
    assert.deepEqual(containerOf(job).volumeMounts?.slice(-2), [
      { name: 'from', mountPath: '/fluid/from', readOnly: true },
      { name: 'to', mountPath: '/fluid/to' },
    ])
    assert.equal(job.metadata.labels?.parallelism, '4')
    assert.equal(job.spec?.parallelism, 1, 'copies are concurrent in one pod')
    assert.equal(job.spec?.template?.metadata?.labels?.['fluid.io/operation'], 'migrate-default-demo')
  })
  it('finds values of Secrets in files, and has none of them in its environment', () => {
    const encryptOptions = [{ name: 'aws.secretKey', valueFrom: { secretKeyRef: { name: 'lake.eu', key: 'id' } } }]
    const job = jobOf('DataMigrate', {
      from: { externalStorage: { uri: 's3://lake/a', encryptOptions } },
      to: { dataset },
      options: { 'aws.region': 'eu', checksum: 'true' },
    })
    assert.deepEqual(described(job).from, {
      uri: 's3://lake/a',
      options: { 'aws.region': 'eu' },
      encryptOptions: { 'aws.secretKey': '/etc/fluid/secrets/from/lake.eu/id' },
    })
    assert.ok(podOf(job).volumes?.some(({ name, secret }) => name === 'from-secret-0' && secret?.secretName === 'lake.eu'))
    assert.ok(containerOf(job).volumeMounts?.some(({ mountPath, readOnly }) => mountPath === '/etc/fluid/secrets/from/lake.eu' && readOnly))
  })
  it('shows the key of the cache to the program of the class alone', () => {
    const hasKey = (spec: object) =>
      podOf(jobOf('DataMigrate', spec, { program: { ...program, keySecret: 'demo-cache-key', saysFinal: true } })).volumes?.some(
        ({ secret }) => secret?.secretName === 'demo-cache-key',
      )
    assert.equal(hasKey({}), true)
    assert.equal(hasKey({ image: 'mine' }), false)
  })
  it('is not tried again where its program says that this would not help', () => {
    assert.equal(jobOf('DataMigrate', { image: 'own' }, { program: { ...program, progressPort: 19_453 } }).metadata.annotations, undefined)
    const policyOf = (saysFinal: boolean) => jobOf('DataMigrate', {}, { program: { ...program, saysFinal } }).spec?.podFailurePolicy
    assert.deepEqual(policyOf(true), { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [2, 3] } }] })
    assert.equal(policyOf(false), undefined)
  })
  it('runs an image of its own where it names one', () =>
    assert.equal(containerOf(jobOf('DataMigrate', { image: 'copier', imageTag: '2' })).image, 'copier:2'))
})

describe('a DataBackup', () => {
  it('is told the dataset and the place, which is mounted', () => {
    const job = jobOf('DataBackup', { backupPath: 'pvc://backups/daily', runAs: { uid: 1, gid: 2, user: 'a', group: 'b' } })
    const { DATASET_NAMESPACE, DATASET_NAME, BACKUP_PVC, BACKUP_PATH, SLUICE_BACKUP_PATH } = envOf(job)
    assert.deepEqual([DATASET_NAMESPACE, DATASET_NAME, BACKUP_PVC], ['default', 'demo', 'backups'])
    assert.deepEqual([BACKUP_PATH, SLUICE_BACKUP_PATH], ['/fluid/backup/daily/', '/fluid/backup/daily'])
    assert.deepEqual(podOf(job).securityContext, { runAsUser: 1, runAsGroup: 2 })
    assert.equal(containerOf(job).name, 'tool')
    assert.deepEqual(podOf(jobOf('DataBackup', { backupPath: 'local:///b' })).volumes?.at(-1), {
      name: 'backup',
      hostPath: { path: '/b', type: 'DirectoryOrCreate' },
    })
  })
})

const dataset = { name: 'demo', mountPath: '/data', subPath: 'a/b' }
const mount = { name: 'fluid-dataset-vol', mountPath: '/data', subPath: 'a/b' }
const claim = { name: 'fluid-dataset-vol', persistentVolumeClaim: { claimName: 'demo' } }

describe('a DataProcess', () => {
  it('runs its script in its image, with the dataset beside it', () => {
    const script = {
      image: 'python',
      imageTag: '3',
      source: 'set -ex\n',
      command: ['sh'],
      env: [{ name: 'A', value: 'b' }],
      restartPolicy: 'OnFailure',
      volumes: [{ name: 'code' }],
      volumeMounts: [{ name: 'code', mountPath: '/code' }],
    }
    const workload = workloadOf(
      'DataProcess',
      { dataset, processor: { serviceAccountName: 'mysa', podMetadata: { labels: { a: 'b' } }, script } },
      { program: undefined },
    )
    assert.deepEqual(workload.configMap?.data, { 'preprocess.sh': 'set -ex\n' })
    const pod = podOf(workload.job as Job)
    assert.deepEqual([pod.serviceAccountName, pod.restartPolicy], ['mysa', 'OnFailure'])
    assert.deepEqual(pod.containers, [
      {
        name: 'script-processor',
        image: 'python:3',
        command: ['sh'],
        args: ['/fluid-scripts/preprocess.sh'],
        env: script.env,
        volumeMounts: [
          { name: 'code', mountPath: '/code' },
          { name: 'script-cm-vol', mountPath: '/fluid-scripts/preprocess.sh', subPath: 'preprocess.sh' },
          mount,
        ],
      },
    ])
    assert.deepEqual(
      pod.volumes?.map(({ name }) => name),
      ['code', 'script-cm-vol', 'fluid-dataset-vol'],
    )
    assert.equal(workload.job?.spec?.template?.metadata?.labels?.a, 'b')
  })
  it('runs its pod as a Job of its own measure, with the dataset in every container', () => {
    const podSpec = {
      containers: [{ name: 'a' }, { name: 'b', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
      initContainers: [{ name: 'i' }],
      volumes: [{ name: 'v' }],
    }
    const job = {
      podSpec,
      template: { metadata: { labels: { own: 'yes' } }, spec: podSpec },
      completions: 3,
      parallelism: 2,
      backoffLimit: 0,
      suspend: true,
    }
    const { spec } = jobOf('DataProcess', { dataset, processor: { job } })
    assert.deepEqual([spec?.completions, spec?.parallelism, spec?.backoffLimit, spec?.suspend], [3, 2, 0, undefined])
    assert.deepEqual(
      spec?.template?.spec?.containers?.map(({ volumeMounts }) => volumeMounts?.at(-1)),
      [mount, mount],
    )
    assert.deepEqual(
      spec?.template?.spec?.initContainers?.map(({ volumeMounts }) => volumeMounts),
      [[mount]],
    )
    assert.deepEqual(spec?.template?.spec?.volumes?.at(-1), claim)
    assert.equal(spec?.template?.metadata?.labels?.own, 'yes')
  })
})

describe('an engine', () => {
  const refusal = (of: Partial<BuildInput>, kind: OperationKind = 'DataLoad', spec: object = {}) => build(input(kind, spec, of)).refused
  it('that cannot do it is named, but a DataProcess needs none', () => {
    const refused = refusal({ program: undefined, runtimeType: 'thin' })
    assert.equal(refused?.reason, 'DataOperationNotSupport')
    assert.match(refused?.message ?? '', /^RuntimeType thin not support DataLoad: name the operation in dataOperationSpecs/)
    assert.equal(refusal({ program: undefined }, 'DataProcess'), undefined)
  })
  it('that names neither command nor arguments runs nothing', () =>
    assert.match(
      refusal({ program: { image: 'a' } })?.message ?? '',
      /^dataLoad command and args defined in cache runtime class can not be both empty/,
    ))
  it('cannot be told of a path with a colon', () =>
    assert.equal(refusal({}, 'DataLoad', { target: [{ path: '/a:b' }] })?.reason, 'PathNotSupported'))
})

describe('what is built', () => {
  it('is the same for the same operation, and mounts nothing twice', () => {
    const paths = fc.constantFrom('', 'a', 'a/b', '/c')
    const ends = fc.oneof(
      paths.map((path) => ({ dataset: { name: 'demo', namespace: 'default', path } })),
      fc.constantFrom('pvc://a', 'pvc://demo/x', 'local:///d', 's3://b/c', 'https://e/f').map((uri) => ({
        externalStorage: { uri, encryptOptions: [{ name: 'k', valueFrom: { secretKeyRef: { name: 's' } } }] },
      })),
    )
    fc.assert(
      fc.property(ends, ends, (from, to) => {
        const job = jobOf('DataMigrate', { from, to })
        assert.deepEqual(job, jobOf('DataMigrate', { from, to }))
        const names = podOf(job).volumes?.map(({ name }) => name) ?? []
        const mounted = containerOf(job).volumeMounts ?? []
        assert.equal(new Set(names).size, names.length)
        assert.equal(new Set(mounted.map(({ mountPath }) => mountPath)).size, mounted.length)
        for (const { name } of mounted) assert.ok(names.includes(name))
      }),
    )
  })
})
