/**
 * The client that an effect is given: the controller's own, reduced to what the effect declares. What is not declared is
 * refused here, with a sentence, because on a cluster with generated access rules it would be refused as well.
 */
import type { Client } from '../client/client.ts'
import { PODS } from '../kinds/kubernetes/resources.ts'
import { keyOfResource, type Resource } from '../kube/resource.ts'
import type { Access } from './controller.ts'

export function declaredClient(client: Client, name: string, access: readonly Access[]): Client {
  const declared = new Set(
    access.flatMap(({ resource, subresource = '', verbs, in: where }) =>
      where === undefined ? verbs.map((verb) => `${keyOfResource(resource)} ${subresource} ${verb}`) : [],
    ),
  )
  const check = (verb: string, resource: Resource, subresource = ''): void => {
    if (declared.has(`${keyOfResource(resource)} ${subresource} ${verb}`)) return
    const what = subresource === '' ? resource.plural : `${resource.plural}/${subresource}`
    throw new Error(`${name} may not ${verb} ${what}: add it to its \`access\``)
  }
  const checked = async <T>(asked: [verb: string, resource: Resource, subresource?: string], send: () => Promise<T>): Promise<T> => {
    check(...asked)
    return send()
  }
  return {
    get: (resource, of, options) => checked(['get', resource, options?.subresource], () => client.get(resource, of, options)),
    list: (resource, options) => checked(['list', resource], () => client.list(resource, options)),
    async *watch(resource, options) {
      check('watch', resource)
      yield* client.watch(resource, options)
    },
    create: (resource, object, options) =>
      checked(['create', resource, options?.subresource], () => client.create(resource, object, options)),
    update: (resource, object, options) =>
      checked(['update', resource, options?.subresource], () => client.update(resource, object, options)),
    patch: (resource, of, patch) => checked(['patch', resource, patch.subresource], () => client.patch(resource, of, patch)),
    apply: (resource, object, options) => checked(['patch', resource, options.subresource], () => client.apply(resource, object, options)),
    delete: (resource, of, options) => checked(['delete', resource], () => client.delete(resource, of, options)),
    deleteCollection: (resource, options) => checked(['deletecollection', resource], () => client.deleteCollection(resource, options)),
    log: (pod, options) => checked(['get', PODS, 'log'], () => client.log(pod, options)),
    exec: (pod, options) => checked(['create', PODS, 'exec'], () => client.exec(pod, options)),
    raw: async ({ path }) => {
      throw new Error(`${name} may not ask for ${path}: paths without a resource cannot be declared`)
    },
    // It belongs to the controller.
    close: async () => undefined,
  }
}
