/** Runs the declared admission on an incoming object: first everything that mutates it, later everything that validates it. */
import { uuid } from '../../base/random.ts'
import type { Admission, AdmissionContext, AdmissionOperation, AdmissionReader, AdmissionRequest } from '../../kinds/admission.ts'
import type { FieldError } from '../../kube/field-error.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { invalidError, staleConflictError } from '../../kube/status.ts'
import { mutableCopy } from '../objects.ts'
import { type Scope, type ServerContext, warn } from '../scope.ts'

export interface Admitted {
  operation: AdmissionOperation
  object?: KubeObject
  oldObject?: KubeObject
  name: string
  dryRun: boolean
  options?: Record<string, unknown>
}

export async function mutatingAdmission(scope: Scope, admitted: Admitted): Promise<void> {
  const request = requestOf(scope, admitted)
  for (const admission of applicable(scope, request))
    if (admission.mutate) await admission.mutate(request, contextOf(scope, admitted.dryRun))
}

export async function validatingAdmission(scope: Scope, admitted: Admitted): Promise<void> {
  const request = requestOf(scope, admitted)
  const errors: FieldError[] = []
  for (const admission of applicable(scope, request)) {
    const found = admission.validate ? await admission.validate(request, contextOf(scope, admitted.dryRun)) : undefined
    if (found !== undefined) errors.push(...found)
  }
  if (errors.length > 0) throw invalidError({ group: request.group, kind: request.kind }, admitted.name, errors)
}

function applicable(scope: Scope, request: AdmissionRequest): readonly Admission[] {
  const resource = request.subresource === '' ? request.resource : `${request.resource}/${request.subresource}`
  return scope.server.admission.filter(
    (admission) =>
      admission.operations.includes(request.operation) &&
      admission.resources.some((of) => (of.group === '*' || of.group === request.group) && matchesResource(of.resource, resource)),
  )
}

function matchesResource(pattern: string, resource: string): boolean {
  if (pattern === '*/*' || pattern === resource) return true
  return pattern === '*' && !resource.includes('/')
}

function requestOf(scope: Scope, admitted: Admitted): AdmissionRequest {
  const { definition, version } = scope.served
  return {
    operation: admitted.operation,
    group: definition.group,
    version: version.name,
    kind: definition.kind,
    resource: definition.plural,
    subresource: scope.info.subresource,
    namespace: scope.info.namespace,
    name: admitted.name,
    object: admitted.object,
    oldObject: admitted.oldObject,
    user: scope.user,
    dryRun: admitted.dryRun,
    options: admitted.options,
  }
}

function contextOf(scope: Scope, dryRun: boolean): AdmissionContext {
  return {
    read: admissionReader(scope.server),
    authorMay: async (right) => scope.server.hasRight(scope.user, right),
    nowMs: scope.server.clock.now(),
    newUid: () => uuid(scope.server.random),
    warn: (message) => warn(scope, message),
    adjust: (of, namespace, name, change) => adjust(scope.server, { of, namespace, name, change, dryRun }),
  }
}

export function admissionReader(server: ServerContext): AdmissionReader {
  return {
    get(of, namespace, name) {
      const served = server.catalog.findStored(of.group, of.resource)
      return served === undefined ? undefined : server.objects.get(served, namespace, name)?.object
    },
    list(of, namespace) {
      const served = server.catalog.findStored(of.group, of.resource)
      return served === undefined ? [] : server.objects.list(served, namespace)
    },
  }
}

interface Adjustment {
  of: { group: string; resource: string }
  namespace: string
  name: string
  change: (object: KubeObject) => boolean
  dryRun: boolean
}

async function adjust(server: ServerContext, what: Adjustment): Promise<void> {
  const served = server.catalog.findStored(what.of.group, what.of.resource)
  if (served === undefined) return
  await server.objects.exclusively(served, what.namespace, what.name, async () => {
    const stored = server.objects.get(served, what.namespace, what.name)
    if (stored === undefined) return
    const copy = mutableCopy(stored.object)
    if (!what.change(copy) || what.dryRun) return
    const result = await server.objects.put(served, copy, stored.version)
    if (!result.ok) throw staleConflictError(served.groupResource, what.name)
  })
}
