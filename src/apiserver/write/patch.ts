/** PATCH in its four forms. Each is a way to make the next object from the live one; the rest is the common update. */

import { serverSideApply } from '../../kube/apply/index.ts'
import { header } from '../../kube/http.ts'
import type { KubeObject } from '../../kube/meta.ts'
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  formatObjectPatch,
  parseJsonPatch,
  parseObjectPatch,
} from '../../kube/patch/index.ts'
import { failure } from '../../kube/status.ts'
import { decodeAppliedBody, decodePatched, inGoOrder, printPatched, reportAppliedStrict } from '../codec.ts'
import { parseWriteOptions, type WriteOptions } from '../options.ts'
import type { Scope } from '../scope.ts'
import { applyContext } from './managed-fields.ts'
import { type Updated, updateObject } from './update.ts'

const JSON_PATCH = 'application/json-patch+json'
const MERGE_PATCH = 'application/merge-patch+json'
const STRATEGIC = 'application/strategic-merge-patch+json'
const APPLY = 'application/apply-patch+yaml'

export function patchObject(scope: Scope): Promise<Updated> {
  const sent = header(scope.request, 'content-type') ?? ''
  const type = sent.split(';')[0]?.trim() ?? ''
  const isApply = type === APPLY
  checkType(scope, type, sent)
  const options = parseWriteOptions('PatchOptions', scope.info.query, { userAgent: header(scope.request, 'user-agent') ?? '', isApply })
  const body = scope.request.body ?? new Uint8Array()
  if (isApply) return apply(scope, body, options)
  // The patch is decoded after the object has been found: a missing object is reported first.
  let produce: Producer | undefined
  return updateObject(scope, {
    name: scope.info.name,
    options,
    mayCreate: false,
    produce(live) {
      produce ??= producer(scope, type, body, options)
      return produce(live)
    },
  })
}

/** A value that the schema accepts but its Go type cannot hold. */
function cannotConvert(scope: Scope, applied: KubeObject, why: string): Error {
  const kind = `${scope.served.apiVersion}, Kind=${scope.served.definition.kind}`
  const { namespace = '', name = '' } = applied.metadata ?? {}
  return failure(
    500,
    '',
    `failed to convert new object (${namespace}/${name}; ${kind}) to proper version: unable to convert unstructured object to ${kind}: ${why}`,
  )
}

function checkType(scope: Scope, type: string, sent: string): void {
  const accepted = scope.served.definition.builtin ? [JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY] : [JSON_PATCH, MERGE_PATCH, APPLY]
  if (accepted.includes(type)) return
  // A list of types that contains an accepted one gets this answer too, but none is chosen from it.
  const listed = sent.split(',').map((part) => part.split(';')[0]?.trim() ?? '')
  if (type === STRATEGIC || listed.some((one) => accepted.includes(one)))
    throw failure(
      415,
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    )
  throw failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {})
}

type Producer = (live: KubeObject | undefined) => KubeObject

function producer(scope: Scope, type: string, body: Uint8Array, options: WriteOptions): Producer {
  const { fieldValidation } = options
  if (type === STRATEGIC) {
    const patch = parseObjectPatch(body, 'strategic')
    const { strictErrors } = patch
    const { schema } = scope.served.version
    const shown = (): string => formatObjectPatch(patch)
    return (live) =>
      decodePatched(scope, applyStrategicMergePatch(live, patch, schema), { fieldValidation, strictErrors, shown, isRestored: true })
  }
  const { strictErrors, change } = textPatch(type, body)
  return (live) => {
    const shown = (): string => printPatched(live === undefined ? undefined : change(inGoOrder(scope, live)))
    return decodePatched(scope, change(live), { fieldValidation, strictErrors, shown })
  }
}

/** JSON and merge patches change the text of an object without knowing its type. */
function textPatch(type: string, body: Uint8Array): { strictErrors: readonly string[]; change(document: unknown): unknown } {
  if (type === JSON_PATCH) {
    const patch = parseJsonPatch(body)
    return { strictErrors: patch.strictErrors, change: (document) => applyJsonPatch(document, patch) }
  }
  const patch = parseObjectPatch(body, 'merge')
  return { strictErrors: patch.strictErrors, change: (document) => applyMergePatch(document, patch) }
}

function apply(scope: Scope, body: Uint8Array, options: WriteOptions): Promise<Updated> {
  const { object: applied, strictErrors } = decodeAppliedBody(body)
  return updateObject(scope, {
    name: scope.info.name,
    options,
    mayCreate: scope.info.subresource === '',
    ownsManagedFields: true,
    produce(live) {
      const result = serverSideApply({ live, applied, manager: options.fieldManager, force: options.force, context: applyContext(scope) })
      const shown = (): string => printPatched(result.object)
      reportAppliedStrict(scope, options.fieldValidation, strictErrors)
      const refuse = (why: string): Error => cannotConvert(scope, applied, why)
      return decodePatched(scope, result.object, {
        fieldValidation: options.fieldValidation,
        strictErrors: [],
        shown,
        refuse,
        isRestored: true,
      })
    },
  })
}
