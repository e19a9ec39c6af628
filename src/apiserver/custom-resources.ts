/**
 * Custom resources come and go with their definitions: a stored CustomResourceDefinition is settled (names, conditions),
 * served from the moment it is established, and when it is deleted its instances go first. Follows the store's events;
 * each definition is worked on by one pass at a time.
 */
import { formatTime } from '../base/clock.ts'
import { deepEqual } from '../base/json.ts'
import { cleanupCrd, hasInstances, needsCleanup, settleCrd } from '../kinds/custom/crd-status.ts'
import { crdServing, definitionOf } from '../kinds/custom/definition.ts'
import type { KubeObject } from '../kube/meta.ts'
import { StatusError } from '../kube/status.ts'
import { bucketOf, type Served } from './catalog.ts'
import { parseRequestInfo } from './request-info.ts'
import type { Scope, ServerContext } from './scope.ts'
import { deleteObject } from './write/delete.ts'

const GROUP = 'apiextensions.k8s.io'
const PLURAL = 'customresourcedefinitions'

export interface CustomResources {
  stop(): void
}

export function followCustomResources(context: ServerContext): CustomResources {
  const { store } = context.objects
  const prefix = `${bucketOf(GROUP, PLURAL)}/`
  const range = store.range(prefix)
  const pending = new Map<string, Promise<void>>()
  let isStopped = false
  /** Specs that are being served, to compile a definition only when it changed. */
  const serving = new Map<string, KubeObject>()

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
    serve(crd)
    enqueue(crd.metadata.name ?? '')
  }

  function enqueue(name: string): void {
    const before = pending.get(name) ?? Promise.resolve()
    const mine = before.then(() => (isStopped ? undefined : settle(name)))
    pending.set(name, mine)
    void mine.finally(() => {
      if (pending.get(name) === mine) pending.delete(name)
    })
  }

  function serve(crd: KubeObject): void {
    const name = crd.metadata.name ?? ''
    if (!crdServing(crd).served) return
    const known = serving.get(name)
    if (known !== undefined && deepEqual(known.spec, crd.spec) && deepEqual(namesAndConditions(known), namesAndConditions(crd))) return
    serving.set(name, crd)
    context.catalog.put(definitionOf(crd))
  }

  function withdraw(crd: KubeObject): void {
    const { group, names } = crd.spec as { group: string; names: { plural: string } }
    if (serving.delete(crd.metadata.name ?? '')) context.catalog.remove(group, names.plural)
    // A name may have become free for another definition of the group.
    for (const other of definitions()) if ((other.spec as { group: string }).group === group) enqueue(other.metadata.name ?? '')
  }

  function definitions(): KubeObject[] {
    const served = context.catalog.findStored(GROUP, PLURAL)
    return served === undefined ? [] : context.objects.list(served)
  }

  async function settle(name: string): Promise<void> {
    const crd = await rewrite(context, name, (live) => settleCrd(live, definitions(), formatTime(context.clock.now())))
    if (crd !== undefined && needsCleanup(crd)) await removeInstances(context, crd)
  }

  return {
    stop() {
      isStopped = true
      stopWatching()
    },
  }
}

function namesAndConditions(crd: KubeObject): unknown {
  const status = crd.status as { acceptedNames?: unknown; conditions?: { type: string; status: string }[] } | undefined
  return [status?.acceptedNames, (status?.conditions ?? []).map((condition) => [condition.type, condition.status])]
}

/** Changes a stored definition if `change` wants to; returns it as it now is, undefined when it is gone. */
async function rewrite(
  context: ServerContext,
  name: string,
  change: (live: KubeObject) => KubeObject | undefined,
): Promise<KubeObject | undefined> {
  const served = context.catalog.findStored(GROUP, PLURAL)
  if (served === undefined) return undefined
  return context.objects.exclusively(served, '', name, async () => {
    for (;;) {
      const stored = context.objects.get(served, '', name)
      if (stored === undefined) return undefined
      const next = change(stored.object)
      if (next === undefined) return stored.object
      const isOver = next.metadata.deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0
      const result = isOver
        ? await context.objects.remove(served, next, stored.version)
        : await context.objects.put(served, next, stored.version)
      if (result.ok) return isOver ? undefined : (result.version.object() as KubeObject)
    }
  })
}

async function removeInstances(context: ServerContext, crd: KubeObject): Promise<void> {
  const name = crd.metadata.name ?? ''
  const now = (): string => formatTime(context.clock.now())
  const { group, names } = crd.spec as { group: string; names: { plural: string } }
  const served = context.catalog.findStored(group, names.plural)
  if (served !== undefined && hasInstances(crd)) {
    await rewrite(context, name, (live) => changed(live, cleanupCrd(live, { step: 'started' }, now())))
    await deleteAll(context, served)
    await whenEmpty(context, served)
  }
  await rewrite(context, name, (live) => (needsCleanup(live) ? cleanupCrd(live, { step: 'finished' }, now()) : undefined))
}

const changed = (live: KubeObject, next: KubeObject): KubeObject | undefined => (deepEqual(live, next) ? undefined : next)

async function deleteAll(context: ServerContext, served: Served): Promise<void> {
  for (const object of context.objects.list(served)) {
    const { namespace = '', name = '' } = object.metadata
    const info = {
      ...parseRequestInfo('DELETE', '/'),
      isResource: true,
      verb: 'delete',
      resource: served.definition.plural,
      namespace,
      name,
    }
    const user = { name: 'system:apiserver', groups: ['system:masters'] }
    const scope: Scope = { server: context, request: { method: 'DELETE', url: '/', headers: {} }, info, served, user, warnings: [] }
    const options = { gracePeriodSeconds: undefined, propagationPolicy: '', orphanDependents: undefined, preconditions: {}, dryRun: false }
    try {
      await deleteObject(scope, name, options)
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 404) throw error
    }
  }
}

/** Instances with finalizers go when whoever holds them lets go. */
function whenEmpty(context: ServerContext, served: Served): Promise<void> {
  const { store } = context.objects
  const prefix = `${served.bucket}/`
  return new Promise((resolve) => {
    if (store.count(prefix) === 0) return resolve()
    const stop = store.watch(prefix, {
      after: store.revision,
      onEvent() {
        if (store.count(prefix) > 0) return
        stop()
        resolve()
      },
    })
  })
}
