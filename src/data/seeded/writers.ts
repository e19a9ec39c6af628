/** Who has written which field, from what the server noted: each field has one writer. */
import { isJsonObject } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Invariant } from '../../runtime/seams/seeded.ts'
import { CLAIMS, DATASETS, RUNTIMES, SETS, VOLUMES, whereOf } from './judge.ts'
import { referredBy, servesItself } from './sharing-judge.ts'

interface Rule {
  /** A prefix of the path of the field, as in `managedFields`. */
  path: string
  /** Of an object as it is. */
  writerOf(object: KubeObject): string
}

const status = (writerOf: Rule['writerOf']): Rule => ({ path: 'f:status', writerOf })
const label = (key: string, writerOf: Rule['writerOf']): Rule => ({ path: `f:metadata f:labels f:${key}`, writerOf })
const always = (writer: string) => (): string => writer

const ofDataset = (dataset: KubeObject): string => (referredBy(dataset) === undefined ? 'data.dataset' : 'data.reference.dataset')
const ofRuntime =
  (type: string) =>
  (runtime: KubeObject): string =>
    servesItself(runtime) ? `data.runtime.${type}` : 'data.reference.runtime'

const RULES: Readonly<Record<string, readonly Rule[]>> = {
  [DATASETS]: [status(ofDataset), label('fluid.io/dataset-id', ofDataset)],
  ...Object.fromEntries(
    Object.entries(RUNTIMES).map(([type, plural]) => {
      const writerOf = ofRuntime(type)
      // That of a reference has its label from the reference, which made it.
      return [plural, type === 'thin' ? [status(writerOf)] : [status(writerOf), label('fluid.io/dataset-id', writerOf)]]
    }),
  ),
  [SETS]: [status(always('data.advanced-stateful-set'))],
  [VOLUMES]: [label('fluid.io/', always('data.volume'))],
  [CLAIMS]: [label('fluid.io/', always('data.volume'))],
  nodes: ['fluid.io/s-', 'fluid.io/dataset-num', 'fluid_exclusive', 'sluice.dev/l-'].map((key) => label(key, always('data.node'))),
}

/** Who was the writer of each field at some time, by uid and path: a dataset may become a reference, and what was written stays. */
type Writers = Map<string, Set<string>>

export const oneWriter: Invariant<Writers> = {
  says: 'each field has one writer',
  about: Object.keys(RULES),
  memory: () => new Map(),
  broken(_view, { resource, object, previous, isDeletion }, writers) {
    const rules = RULES[resource]
    if (rules === undefined || isDeletion) return undefined
    const wrong = rules.flatMap((rule) => {
      const key = `${object.metadata.uid} ${rule.path}`
      const known = writers.get(key) ?? new Set()
      writers.set(key, known)
      for (const one of [object, previous]) if (one !== undefined) known.add(rule.writerOf(one))
      return otherWriters(object, rule, known).map((writer) => `${whereOf(object)}: ${writer} writes ${rule.path}`)
    })
    return wrong[0]
  },
}

const otherWriters = ({ metadata: { managedFields = [] } }: KubeObject, { path }: Rule, known: ReadonlySet<string>): string[] =>
  managedFields
    .filter(({ manager = '', fieldsV1 }) => !known.has(manager) && holds(fieldsV1, path.split(' ')))
    .map(({ manager }) => manager ?? 'somebody')

/** The last part is a prefix. */
function holds(fields: unknown, [first = '', ...rest]: readonly string[]): boolean {
  if (!isJsonObject(fields)) return false
  if (rest.length === 0) return Object.keys(fields).some((key) => key.startsWith(first))
  return Object.hasOwn(fields, first) && holds(fields[first], rest)
}
