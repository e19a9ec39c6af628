/**
 * Puts the objects every cluster starts with into the store. What already exists, changed or not, is left alone, except for
 * the port of the `kubernetes` Service, which says where this server listens now.
 */
import { formatTime } from '../base/clock.ts'
import { deepEqual } from '../base/json.ts'
import { uuid } from '../base/random.ts'
import { bootstrapObjects, kubernetesServicePorts } from '../kinds/kubernetes/bootstrap.ts'
import { type KubeObject, parseGroupVersion } from '../kube/meta.ts'
import type { Served } from './catalog.ts'
import type { Stored } from './objects.ts'
import type { ServerContext } from './scope.ts'

export interface BootstrapOptions {
  /** Port of this server, which the `kubernetes` Service points at; a promise where it is known only once it listens. */
  port: number | Promise<number>
  /** PEM of the authority that client certificates are checked against. */
  clientAuthority: string
  /** Objects that this cluster starts with besides those of every cluster. */
  objects?: readonly KubeObject[]
}

type Context = Pick<ServerContext, 'catalog' | 'clock' | 'random' | 'objects'>

export async function bootstrapCluster(context: Context, options: BootstrapOptions): Promise<void> {
  const now = formatTime(context.clock.now())
  const port = await options.port
  const wanted = [
    ...bootstrapObjects({ now, port }),
    configMap('extension-apiserver-authentication', { 'client-ca-file': options.clientAuthority }, now),
    configMap('kube-apiserver-legacy-service-account-token-tracking', { since: now.slice(0, 'YYYY-MM-DD'.length) }, now),
    ...(options.objects ?? []).map((object) => ({ ...object })),
  ]
  await Promise.all(
    wanted.map(async (object) => {
      const { group, version } = parseGroupVersion(object.apiVersion)
      const served = context.catalog.findKind(group, version, object.kind)
      if (served === undefined) return
      const stored = context.objects.get(served, object.metadata.namespace ?? '', object.metadata.name ?? '')
      if (stored !== undefined) return object.kind === 'Service' ? keepPort(context, served, { stored, port }) : undefined
      object.metadata = { ...object.metadata, uid: uuid(context.random), creationTimestamp: now }
      await context.objects.put(served, object, undefined)
    }),
  )
}

async function keepPort(context: Context, served: Served, at: { stored: Stored; port: number }): Promise<void> {
  const { object, version } = at.stored
  const ports = kubernetesServicePorts(at.port)
  const spec = object.spec as { ports?: unknown } | undefined
  if (deepEqual(spec?.ports, ports)) return
  await context.objects.put(served, { ...object, spec: { ...spec, ports } }, version)
}

/** Configuration that others read: the client CA for extension servers, and the start date of legacy token tracking for controllers. */
function configMap(name: string, data: Record<string, string>, now: string): KubeObject {
  const owned = Object.fromEntries(['.', ...Object.keys(data).map((key) => `f:${key}`)].map((key) => [key, {}]))
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'kube-system',
      managedFields: [
        {
          manager: 'kube-apiserver',
          operation: 'Update',
          apiVersion: 'v1',
          time: now,
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': owned },
        },
      ],
    },
    data,
  }
}
