/**
 * The end of a CustomResourceDefinition: its instances are deleted first; those with finalizers remain until the finalizers
 * are removed, and only then is the definition removed too. Objects of a kind that the server was made with are nobody's
 * instances: they stay.
 */
import { formatTime } from '../base/clock.ts'
import { deepEqual } from '../base/json.ts'
import { cleanupCrd, hasInstances, needsCleanup } from '../kinds/custom/crd-status.ts'
import type { KindDefinition } from '../kinds/kind.ts'
import type { KubeObject } from '../kube/meta.ts'
import { parseRequestInfo } from '../kube/request-info.ts'
import { StatusError } from '../kube/status.ts'
import type { Served } from './catalog.ts'
import { identityOf } from './definition-passes.ts'
import type { Scope, ServerContext } from './scope.ts'
import { deleteObject } from './write/delete.ts'

const GROUP = 'apiextensions.k8s.io'
const PLURAL = 'customresourcedefinitions'

export interface Cleanup {
  /** Takes the next step; requests another call when the last instance is gone. */
  run(name: string, crd: KubeObject): Promise<void>
  /** Stops waiting. */
  forget(name: string): void
  stop(): void
}

export function createCleanup(context: ServerContext, again: (name: string) => void): Cleanup {
  const { store } = context.objects
  const waits = new Map<string, () => void>()
  const now = (): string => formatTime(context.clock.now())

  function waitUntilEmpty(name: string, served: Served): void {
    if (waits.has(name)) return
    const instances = `${served.bucket}/`
    const onEvent = (): void => {
      if (store.count(instances) === 0) again(name)
    }
    waits.set(name, store.watch(instances, { after: store.revision, onEvent }))
  }

  function forget(name: string): void {
    waits.get(name)?.()
    waits.delete(name)
  }

  return {
    async run(name, crd) {
      const { group, plural } = identityOf(crd)
      const served = context.catalog.findStored(group, plural)
      const isFixed = context.catalog.fixed(group, plural) !== undefined
      if (served !== undefined && !isFixed && hasInstances(crd)) {
        await rewriteDefinition(context, name, (live) => changed(live, cleanupCrd(live, { step: 'started' }, now())))
        await deleteAll(context, served)
        if (store.count(`${served.bucket}/`) > 0) return waitUntilEmpty(name, served)
      }
      forget(name)
      const step = ownKindOf(context, crd) === undefined ? 'finished' : 'kept'
      await rewriteDefinition(context, name, (live) => (needsCleanup(live) ? cleanupCrd(live, { step }, now()) : undefined))
    },
    forget,
    stop() {
      for (const name of [...waits.keys()]) forget(name)
    },
  }
}

/** The kind of this name that the server has of its own, besides the built-in ones. */
export function ownKindOf({ catalog }: Pick<ServerContext, 'catalog'>, crd: KubeObject): KindDefinition | undefined {
  const { group, plural } = identityOf(crd)
  const kind = catalog.fixed(group, plural)
  return kind?.builtin === false ? kind : undefined
}

/** Changes a stored definition if `change` returns one; returns the current definition, or undefined when it is gone. */
export async function rewriteDefinition(
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
