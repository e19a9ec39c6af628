/** Who has written which field, from what the server noted: each field has one writer. */
import { isJsonObject } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Invariant } from '../../runtime/seams/seeded.ts'
import { CLAIMS, DATASETS, RUNTIMES, SETS, VOLUMES, whereOf } from './judge.ts'

interface Rule {
  /** A prefix of the path of the field, as in `managedFields`. */
  path: string
  writer: string
}

const status = (writer: string): Rule => ({ path: 'f:status', writer })
const label = (key: string, writer: string): Rule => ({ path: `f:metadata f:labels f:${key}`, writer })

const RULES: Readonly<Record<string, readonly Rule[]>> = {
  [DATASETS]: [status('data.dataset'), label('fluid.io/dataset-id', 'data.dataset')],
  ...Object.fromEntries(
    Object.entries(RUNTIMES).map(([type, plural]) => {
      const writer = `data.runtime.${type}`
      return [plural, [status(writer), label('fluid.io/dataset-id', writer)]]
    }),
  ),
  [SETS]: [status('data.advanced-stateful-set')],
  [VOLUMES]: [label('fluid.io/', 'data.volume')],
  [CLAIMS]: [label('fluid.io/', 'data.volume')],
  nodes: [
    label('fluid.io/s-', 'data.node'),
    label('fluid.io/dataset-num', 'data.node'),
    label('fluid_exclusive', 'data.node'),
    label('sluice.dev/l-', 'data.node'),
  ],
}

export const oneWriter: Invariant = {
  says: 'each field has one writer',
  about: Object.keys(RULES),
  broken(_view, { resource, object, isDeletion }) {
    const rules = RULES[resource]
    if (rules === undefined || isDeletion) return undefined
    const wrong = rules.flatMap((rule) => otherWriters(object, rule).map((writer) => `${whereOf(object)}: ${writer} writes ${rule.path}`))
    return wrong[0]
  },
}

const otherWriters = ({ metadata: { managedFields = [] } }: KubeObject, { path, writer }: Rule): string[] =>
  managedFields
    .filter(({ manager, fieldsV1 }) => manager !== writer && holds(fieldsV1, path.split(' ')))
    .map(({ manager }) => manager ?? 'somebody')

/** The last part is a prefix. */
function holds(fields: unknown, [first = '', ...rest]: readonly string[]): boolean {
  if (!isJsonObject(fields)) return false
  if (rest.length === 0) return Object.keys(fields).some((key) => key.startsWith(first))
  return Object.hasOwn(fields, first) && holds(fields[first], rest)
}
