/** Printer columns of custom resources: the name, then each column's JSONPath rendered by its type; Age when none is given. */
import { humanDuration } from '../../kube/go-duration.ts'
import { isZeroTime, parseTime } from '../../kube/go-time.ts'
import { compileJsonPath, jsonPathText } from '../../kube/json-path.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Column, TablePrinter } from '../kind.ts'
import type { CrdColumn } from './crd.ts'

const NAME_COLUMN: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique within its namespace and resource.',
}

const AGE: CrdColumn = {
  name: 'Age',
  type: 'date',
  description: 'When the object was created, by the clock of the server, in RFC3339 form and UTC.',
  jsonPath: '.metadata.creationTimestamp',
}

export function printerOf(columns: readonly CrdColumn[] | undefined): TablePrinter {
  const shown = columns === undefined || columns.length === 0 ? [AGE] : columns
  const cells = shown.map(cellOf)
  return {
    columns: [NAME_COLUMN, ...shown.map(columnOf)],
    row: (object, nowMs) => ({ cells: [object.metadata.name ?? '', ...cells.map((cell) => cell(object, nowMs))] }),
  }
}

function columnOf(column: CrdColumn): Column {
  return {
    name: column.name,
    type: column.type as Column['type'],
    ...(column.format ? { format: column.format } : {}),
    description: column.description || `Custom resource definition column (in JSONPath format): ${column.jsonPath}`,
    ...(column.priority ? { priority: column.priority } : {}),
  }
}

/** A path that does not parse shows nothing: the real server drops the column's values too. */
function cellOf(column: CrdColumn): (object: KubeObject, nowMs: number) => unknown {
  const path = compileJsonPath(column.jsonPath)
  if (path.error !== undefined) return () => null
  return (object, nowMs) => {
    const found = path.value(object)
    if (found.length === 0) return null
    return column.type === 'string' ? jsonPathText(found[0]) : cellValue(column.type, found[0], nowMs)
  }
}

function cellValue(type: string, value: unknown, nowMs: number): unknown {
  if (type === 'integer') return typeof value === 'number' ? Math.trunc(value) : null
  if (type === 'number') return typeof value === 'number' ? value : null
  if (type === 'boolean') return typeof value === 'boolean' ? value : null
  return type === 'date' && typeof value === 'string' ? ageCell(value, nowMs) : null
}

function ageCell(text: string, nowMs: number): string {
  if (text === '' || text === 'null') return '<unknown>'
  const at = parseTime(text).value
  if (at === undefined) return '<invalid>'
  return isZeroTime(at) ? '<unknown>' : humanDuration(nowMs - (at.seconds * 1000 + Math.floor(at.nanos / 1e6)))
}
