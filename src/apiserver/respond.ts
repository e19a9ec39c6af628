/** Turns objects, lists and failures into answers of the negotiated form. */

import { stringify as toYaml } from 'yaml'
import { bytesOf } from '../base/byte-text.ts'
import type { TablePrinter } from '../kinds/kind.ts'
import { humanDuration } from '../kube/go-duration.ts'
import type { ApiResponse } from '../kube/http.ts'
import type { KubeObject, ObjectMeta } from '../kube/meta.ts'
import { badRequestError, failure, type Status, type StatusError } from '../kube/status.ts'
import type { Served } from './catalog.ts'
import type { Negotiated } from './negotiation.ts'
import { convertTo, writtenText } from './objects.ts'
import type { Scope } from './scope.ts'

/** As Go writes it: list items at the indentation of their key, quotes around strings that would read as another type. */
const YAML_STYLE = { sortMapEntries: true, aliasDuplicateObjects: false, indentSeq: false, version: '1.1' } as const

const encoder = new TextEncoder()

export function respond(status: number, value: unknown, format: 'json' | 'yaml' = 'json', warnings: readonly string[] = []): ApiResponse {
  const text = format === 'yaml' ? toYaml(value, YAML_STYLE) : JSON.stringify(value)
  return respondBytes(status, encoder.encode(text), { format, warnings })
}

export function respondBytes(
  status: number,
  body: Uint8Array,
  about: { format?: 'json' | 'yaml'; warnings?: readonly string[] } = {},
): ApiResponse {
  const headers: ApiResponse['headers'] = {
    'cache-control': 'no-cache, private',
    'content-type': about.format === 'yaml' ? 'application/yaml' : 'application/json',
  }
  if (about.warnings !== undefined && about.warnings.length > 0) headers.warning = warningHeaders(about.warnings)
  return { status, headers, body }
}

export function respondError(error: StatusError, about: { warnings: readonly string[]; format: 'json' | 'yaml' }): ApiResponse {
  const response = respond(error.code, error.status, about.format, about.warnings)
  const retryAfter = error.status.details?.retryAfterSeconds
  if (retryAfter !== undefined && retryAfter > 0) response.headers['retry-after'] = String(retryAfter)
  return response
}

const MAX_WARNING_LENGTH = 4096

export const warningHeaders = (warnings: readonly string[]): string[] => warnings.map(warningHeader)

/** RFC 7234 form with the code that stands for "miscellaneous, persistent". */
function warningHeader(text: string): string {
  const clean = [...text].map((char) => (isPrintable(char) ? char : ' ')).join('')
  const short = clean.length > MAX_WARNING_LENGTH ? clean.slice(0, MAX_WARNING_LENGTH) : clean
  return `299 - ${JSON.stringify(short)}`
}

const isPrintable = (char: string): boolean => char >= ' ' && char !== '\u007f'

/** One object (storage version) in the scope's version and the form that the client asks for. */
export function respondObject(scope: Scope, negotiated: Negotiated, status: number, object: KubeObject): ApiResponse {
  const served = convertTo(scope.served, object, scope.served.apiVersion)
  const text = negotiated.shape === 'object' && negotiated.format === 'json' ? writtenText(served) : undefined
  if (text !== undefined) return respondBytes(status, bytesOf(text), { warnings: scope.warnings })
  return respond(status, shapeObject(scope, negotiated, served), negotiated.format, scope.warnings)
}

export function respondStatus(scope: Scope, negotiated: Negotiated, status: Status, code = 200): ApiResponse {
  return respond(code, status, negotiated.format, scope.warnings)
}

/** `object` is in the served version already. */
function shapeObject(scope: Scope, negotiated: Negotiated, object: KubeObject): unknown {
  if (negotiated.shape === 'object') return object
  if (negotiated.shape === 'Table')
    return table(scope, negotiated, { objects: [object], meta: { resourceVersion: object.metadata.resourceVersion } })
  if (negotiated.shape === 'PartialObjectMetadata') return partial(scope.served, object, negotiated.metaVersion)
  throw failure(
    406,
    'NotAcceptable',
    `you requested PartialObjectMetadataList, but the requested object is not a list (*${goTypeName(scope.served)})`,
  )
}

export interface ListMeta {
  resourceVersion?: string
  continue?: string
  remainingItemCount?: number
}

/** `objects` are in the served version. */
export function shapeList(scope: Scope, negotiated: Negotiated, list: { objects: KubeObject[]; meta: ListMeta }): unknown {
  if (negotiated.shape === 'Table') return table(scope, negotiated, list)
  if (negotiated.shape === 'PartialObjectMetadata')
    throw failure(
      406,
      'NotAcceptable',
      `you requested PartialObjectMetadata, but the requested object is a list (*${goTypeName(scope.served)}List)`,
    )
  const apiVersion = `meta.k8s.io/${negotiated.metaVersion}`
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion,
    metadata: list.meta,
    items: list.objects.length === 0 ? null : list.objects.map((object) => partial(scope.served, object, negotiated.metaVersion)),
  }
}

export function partial(served: Served, object: KubeObject, metaVersion: string): KubeObject {
  const metadata = withoutFieldAnnotations(object.metadata, served.definition.rules.annotationsOfFields ?? [])
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${metaVersion}`, metadata }
}

function withoutFieldAnnotations(metadata: ObjectMeta, names: readonly string[]): ObjectMeta {
  const { annotations } = metadata
  if (annotations === undefined || !names.some((name) => Object.hasOwn(annotations, name))) return metadata
  const { annotations: _replaced, ...rest } = metadata
  const kept = Object.entries(annotations).filter(([name]) => !names.includes(name))
  return kept.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(kept) }
}

function goTypeName(served: Served): string {
  const { definition } = served
  if (!definition.builtin) return `unstructured.Unstructured`
  return `${definition.group === '' ? 'core' : (definition.group.split('.')[0] ?? '')}.${definition.kind}`
}

interface Table {
  kind: 'Table'
  apiVersion: string
  metadata: ListMeta
  columnDefinitions: unknown
  /** Last, so that further rows can be appended to the written text. */
  rows: unknown[]
}

export function table(scope: Scope, negotiated: Negotiated, list: { objects: KubeObject[]; meta: ListMeta; hasHeaders?: boolean }): Table {
  const include = scope.info.query.get('includeObject') ?? ''
  if (!['', 'Metadata', 'Object', 'None'].includes(include))
    throw badRequestError(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
    )
  const printer = scope.served.version.printer ?? nameAndAgePrinter
  const nowMs = scope.server.clock.now()
  const rows = list.objects.map((object) => {
    const row = printer.row(object, nowMs)
    const shown = include === 'Object' ? object : include === 'None' ? null : partial(scope.served, object, negotiated.metaVersion)
    return row.conditions === undefined
      ? { cells: row.cells, object: shown }
      : { cells: row.cells, conditions: row.conditions, object: shown }
  })
  const columnDefinitions =
    list.hasHeaders === false
      ? null
      : printer.columns.map((c) => ({
          name: c.name,
          type: c.type,
          format: c.format ?? '',
          description: c.description ?? '',
          priority: c.priority ?? 0,
        }))
  return { kind: 'Table', apiVersion: `meta.k8s.io/${negotiated.metaVersion}`, metadata: list.meta, columnDefinitions, rows }
}

const nameAndAgePrinter: TablePrinter = {
  columns: [
    { name: 'Name', type: 'string', format: 'name' },
    { name: 'Created At', type: 'date' },
  ],
  row: (object, nowMs) => ({
    cells: [
      object.metadata.name ?? '',
      object.metadata.creationTimestamp ? humanDuration(nowMs - Date.parse(object.metadata.creationTimestamp)) : '<unknown>',
    ],
  }),
}
