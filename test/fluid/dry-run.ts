/** Sends a manifest of Fluid's kinds to a server as `kubectl create --dry-run=server` does, and says what the server answered. */
import { ApiException, CoreV1Api, CustomObjectsApi, type KubeConfig } from '@kubernetes/client-node'
import { fluidKinds } from '../../src/kinds/fluid/index.ts'
import type { KubeObject } from '../../src/kube/meta.ts'

/** Undefined: accepted. Otherwise the message of the refusal. */
export type Refusal = string | undefined

const DEFAULT_NAMESPACE = 'default'

/** Manifests that were printed by a server have fields that only a server writes. */
function asWritten({
  metadata: { name, generateName, namespace, labels, annotations, finalizers, ownerReferences },
  ...object
}: KubeObject) {
  const { status: _, ...rest } = object as KubeObject
  return { ...rest, metadata: { name, generateName, namespace, labels, annotations, finalizers, ownerReferences } }
}

export class DryRun {
  readonly #objects: CustomObjectsApi
  readonly #core: CoreV1Api

  constructor(config: KubeConfig) {
    this.#objects = config.makeApiClient(CustomObjectsApi)
    this.#core = config.makeApiClient(CoreV1Api)
  }

  /** A dry run in a namespace that does not exist is refused for that alone. */
  async ensureNamespaces(names: Iterable<string>): Promise<void> {
    const { items } = await this.#core.listNamespace()
    const known = new Set(items.map(({ metadata }) => metadata?.name))
    for (const name of names) if (!known.has(name)) await this.#core.createNamespace({ body: { metadata: { name } } })
  }

  async create(object: KubeObject): Promise<Refusal> {
    const [group = '', version = ''] = object.apiVersion.split('/')
    const known = fluidKinds.find((kind) => kind.group === group && kind.kind === object.kind)
    if (known === undefined) return `no kind ${object.kind} in ${group}`
    const place = { group, version, plural: known.plural, body: asWritten(object), dryRun: 'All', fieldValidation: 'Strict' }
    try {
      if (known.resource.namespaced) await this.#objects.createNamespacedCustomObject({ ...place, namespace: namespaceOf(object) })
      else await this.#objects.createClusterCustomObject(place)
      return undefined
    } catch (error) {
      if (!(error instanceof ApiException)) throw error
      return messageOf(error)
    }
  }
}

export const namespaceOf = ({ metadata: { namespace = DEFAULT_NAMESPACE } }: KubeObject): string => namespace

function messageOf({ code, body }: ApiException<unknown>): string {
  const status = (typeof body === 'string' ? JSON.parse(body) : body) as { message?: string } | undefined
  return status?.message ?? `status ${code}`
}
