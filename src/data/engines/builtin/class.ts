/**
 * The class `builtin`: the programs of `src/cache` as pods. A master knows the files, workers hold blocks, and a client on each
 * node that reads completes files there. What Fluid's class cannot say is in its annotations.
 */
import type { CacheRuntimeClass, CacheRuntimeComponent, CacheTierLevel } from '../../../kinds/fluid/index.ts'
import type { Container, Volume } from '../../../kinds/kubernetes/types.ts'
import { ANY_CACHE_AUDIENCE } from '../../../kube/cache-audience.ts'
import { OWN_IMAGE } from '../../../runtime/own-image.ts'
import { CLASS_ANNOTATIONS } from '../cache/pod-template.ts'
import type { ComponentType } from '../engine.ts'

export const BUILTIN_CLASS = 'builtin'
/** Where a worker keeps blocks when its runtime does not say it. */
export const DEFAULT_LEVELS: readonly CacheTierLevel[] = [{ emptyDir: { quota: '1Gi' } }]

const PORTS = { master: 19450, worker: 19451, client: 19452 } as const
const TOKEN_PATH = '/var/run/secrets/sluice.dev/cache'
/** The inventory's journal: it outlives a container, not the pod, and without it the sources are listed again. */
const STATE_PATH = '/var/lib/sluice/master'

const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } })

interface MoreOfPods {
  container?: Partial<Container>
  volumes?: Volume[]
  annotations?: Record<string, string>
}

function componentOf(type: ComponentType, version: string, more: MoreOfPods = {}) {
  const container: Container = {
    name: type,
    image: `${OWN_IMAGE}:${version}`,
    command: ['sluice', 'cache', type],
    env: [field('POD_NAME', 'metadata.name'), field('POD_IP', 'status.podIP'), field('NODE_NAME', 'spec.nodeName')],
    resources: { requests: { cpu: '50m', memory: '64Mi' } },
    ...more.container,
  }
  return {
    template: {
      ...(more.annotations === undefined ? {} : { metadata: { annotations: more.annotations } }),
      spec: { containers: [container], ...(more.volumes === undefined ? {} : { volumes: more.volumes }) },
    },
  }
}

const readiness = (port: number) => ({ readinessProbe: { httpGet: { path: '/healthz', port }, periodSeconds: 2 } })

const entry = (command: string) => ({ command: ['sluice', 'cache', command], timeout: 30 })

/** Their image is the worker's: see docs/design/0017-programs.md. */
const OPERATIONS = [
  ['DataLoad', 'load'],
  ['DataMigrate', 'migrate'],
  ['DataBackup', 'backup'],
] as const

export interface BuiltinOptions {
  /** The tag of our own image. */
  version: string
  /** Whether sources may be at loopback and private addresses. */
  allowsPrivateAddresses: boolean
}

export function builtinClass({ version, allowsPrivateAddresses }: BuiltinOptions): CacheRuntimeClass {
  const options = { allowPrivateAddresses: String(allowsPrivateAddresses) }
  const master: CacheRuntimeComponent = {
    ...componentOf('master', version, {
      container: { ...readiness(PORTS.master), volumeMounts: [{ name: 'state', mountPath: STATE_PATH }] },
      volumes: [{ name: 'state', emptyDir: {} }],
    }),
    options,
    service: { headless: {} },
    executionEntries: { mountUFS: entry('mount-ufs'), reportSummary: entry('report-summary') },
  }
  const worker: CacheRuntimeComponent = {
    ...componentOf('worker', version, { container: readiness(PORTS.worker) }),
    // Also where a runtime leaves the master out.
    options,
    service: { headless: {} },
  }
  const client: CacheRuntimeComponent = componentOf('client', version, {
    annotations: { [CLASS_ANNOTATIONS.sidecarFiles]: 'true' },
    container: { ...readiness(PORTS.client), volumeMounts: [{ name: 'token', mountPath: TOKEN_PATH, readOnly: true }] },
    volumes: [
      {
        name: 'token',
        projected: { sources: [{ serviceAccountToken: { audience: ANY_CACHE_AUDIENCE, expirationSeconds: 3600, path: 'token' } }] },
      },
    ],
  })
  return {
    apiVersion: 'data.fluid.io/v1alpha1',
    kind: 'CacheRuntimeClass',
    metadata: {
      name: BUILTIN_CLASS,
      annotations: {
        [CLASS_ANNOTATIONS.key]: 'true',
        [CLASS_ANNOTATIONS.nativeMounts]: 'true',
        [CLASS_ANNOTATIONS.clientReadsTiers]: 'true',
        [CLASS_ANNOTATIONS.fixedOptions]: 'allowPrivateAddresses',
        [CLASS_ANNOTATIONS.publicOptions]: 'blockSize,replicas,nodeQuota',
        [CLASS_ANNOTATIONS.clear]: JSON.stringify(['sluice', 'cache', 'clear']),
        [CLASS_ANNOTATIONS.decommission]: JSON.stringify(['sluice', 'cache', 'decommission']),
        [CLASS_ANNOTATIONS.recommission]: JSON.stringify(['sluice', 'cache', 'recommission']),
      },
    },
    fileSystemType: 'sluice',
    topology: { master, worker, client },
    dataOperationSpecs: OPERATIONS.map(([name, program]) => ({ name, command: ['sluice', 'cache', program] })),
  }
}
