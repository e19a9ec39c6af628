/**
 * Custom resources come and go with their definitions: a stored CustomResourceDefinition is settled (names, conditions),
 * served from the moment it is established, and when it is deleted its instances are deleted first. Follows the store's events;
 * each definition is processed by one pass at a time. A definition of a kind that the server was made with is stored, and has
 * no effect: neither on what is served, nor on objects when it is deleted.
 */
import { formatTime } from '../base/clock.ts'
import { deepEqual } from '../base/json.ts'
import { needsCleanup, settleCrd, settleOwnCrd } from '../kinds/custom/crd-status.ts'
import { crdServing, definitionOf } from '../kinds/custom/definition.ts'
import type { KubeObject } from '../kube/meta.ts'
import { bucketOf } from './catalog.ts'
import { createCleanup, ownKindOf, rewriteDefinition } from './definition-cleanup.ts'
import { createNameIndex, createPasses, identityOf } from './definition-passes.ts'
import type { ServerContext } from './scope.ts'

const GROUP = 'apiextensions.k8s.io'
const PLURAL = 'customresourcedefinitions'

export interface CustomResources {
  stop(): void
}

/** `onError` receives failures (a full disk, say); what failed is retried. */
export function followCustomResources(context: ServerContext, onError: (error: unknown, name: string) => void): CustomResources {
  const { store } = context.objects
  const prefix = `${bucketOf(GROUP, PLURAL)}/`
  const range = store.range(prefix)
  /** What is served, to compile a definition only when it changed. */
  const serving = new Map<string, KubeObject>()
  const names = createNameIndex(context.catalog.definitions().filter(({ builtin }) => !builtin))
  const passes = createPasses({ settle, clock: context.clock, onError })
  const cleanup = createCleanup(context, passes.request)

  for (const version of range.versions) look(version.object() as KubeObject)
  const stopWatching = store.watch(prefix, {
    after: range.revision,
    onEvent(event) {
      const crd = event.version.object() as KubeObject
      if (event.type === 'delete') withdraw(crd)
      else look(crd)
    },
  })

  function look(crd: KubeObject): void {
    const name = crd.metadata.name ?? ''
    if (names.put(crd)) lookAtOthers(crd)
    try {
      serve(name, crd)
    } catch (error) {
      // One definition that cannot be compiled must not keep the others from being served.
      onError(error, name)
    }
    passes.request(name)
  }

  function serve(name: string, crd: KubeObject): void {
    const { group, plural } = identityOf(crd)
    if (!crdServing(crd).served || context.catalog.fixed(group, plural) !== undefined) return
    const known = serving.get(name)
    if (known !== undefined && deepEqual(known.spec, crd.spec) && deepEqual(namesAndConditions(known), namesAndConditions(crd))) return
    context.catalog.put(definitionOf(crd))
    serving.set(name, crd)
  }

  function withdraw(crd: KubeObject): void {
    const name = crd.metadata.name ?? ''
    const { group, plural } = identityOf(crd)
    cleanup.forget(name)
    names.remove(crd)
    if (serving.delete(name)) context.catalog.remove(group, plural)
    lookAtOthers(crd)
  }

  /** A name may have become free for another definition of the group. */
  function lookAtOthers(crd: KubeObject): void {
    for (const other of names.ofGroup(identityOf(crd).group))
      if (other.metadata.name !== crd.metadata.name) passes.request(other.metadata.name ?? '')
  }

  async function settle(name: string): Promise<void> {
    const crd = await rewriteDefinition(context, name, (live) => {
      const now = formatTime(context.clock.now())
      const own = ownKindOf(context, live)
      return own === undefined ? settleCrd(live, names.ofGroup(identityOf(live).group), now) : settleOwnCrd(live, own, now)
    })
    if (crd !== undefined && needsCleanup(crd)) await cleanup.run(name, crd)
  }

  return {
    stop() {
      stopWatching()
      passes.stop()
      cleanup.stop()
    },
  }
}

function namesAndConditions(crd: KubeObject): unknown {
  const status = crd.status as { acceptedNames?: unknown; conditions?: { type: string; status: string }[] } | undefined
  return [status?.acceptedNames, (status?.conditions ?? []).map((condition) => [condition.type, condition.status])]
}
