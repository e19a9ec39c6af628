/** What is done to the datasets of a cluster, number N of a seed: a pure function of both. */
import { isJsonObject, type Json } from '../../../src/base/json.ts'
import { fluidKinds } from '../../../src/kinds/fluid/index.ts'
import type { OwnKind } from '../../../src/kinds/schema/define-kind.ts'
import { type Choice, choiceFor } from '../choice.ts'
import { NAMESPACES } from '../corpus.ts'
import { fromSchema } from '../from-schema.ts'
import { hostileString, hostileText, hostileValue } from '../hostile.ts'
import { mutateJson } from '../mutate.ts'
import { type DataRequest, NAMES } from './names.ts'
import { METADATA, SAMPLES } from './samples.ts'
import { forgery, grant, reference, scale, sidecar, standIn } from './sharing.ts'

const API = 'application/json'
const MERGE = 'application/merge-patch+json'

const pathOf = ({ group, storageVersion, plural, scope }: OwnKind, namespace: string, ...rest: string[]): string =>
  ['/apis', group, storageVersion, ...(scope === 'Namespaced' ? ['namespaces', namespace] : []), plural, ...rest].join('/')

const kindOf = (name: Json | undefined): OwnKind => {
  const found = fluidKinds.find(({ kind }) => kind === name)
  if (found === undefined) throw new Error(`a sample of ${String(name)}, which is no kind of Fluid`)
  return found
}

export function dataRequest(seed: number, index: number): DataRequest {
  const choice = choiceFor(seed, index)
  return choice.weighted<() => DataRequest>([
    [30, () => create('sample', choice, (body) => body)],
    [40, () => create('mutated sample', choice, (body) => mutateJson(body, choice))],
    [25, () => fromItsSchema(choice)],
    [15, () => change(choice)],
    [6, () => status(choice)],
    [6, () => reader(choice)],
    [6, () => remove(choice)],
    [14, () => reference(choice)],
    [4, () => standIn(choice)],
    [8, () => grant(choice)],
    [6, () => scale(choice)],
    [8, () => sidecar(choice)],
    [3, () => forgery(choice)],
  ])()
}

function create(family: string, choice: Choice, changed: (body: Json) => Json): DataRequest {
  const sample = choice.of(SAMPLES)
  const kind = kindOf(sample.kind)
  const { metadata: given = {}, ...content } = sample
  const metadata = { ...(given as object), ...(choice.chance(0.35) ? choice.of(METADATA) : {}) }
  // What is changed is what users write; names stay, so that objects meet.
  const body = changed({ metadata: metadata as Json, ...content })
  return posted(family, kind, choice, isJsonObject(body) ? (body as Record<string, Json>) : { spec: body })
}

function posted(family: string, kind: OwnKind, choice: Choice, object: Record<string, Json>): DataRequest {
  const name = choice.chance(0.04) ? hostileString(choice).slice(0, 300) : choice.of(NAMES)
  const metadata = { ...(isJsonObject(object.metadata) ? object.metadata : {}), name } as Json
  const body = { ...object, apiVersion: `${kind.group}/${kind.storageVersion}`, kind: kind.kind, metadata }
  return { family, method: 'POST', path: pathOf(kind, choice.of(NAMESPACES)), type: API, body }
}

function fromItsSchema(choice: Choice): DataRequest {
  const kind = choice.of(fluidKinds)
  const schema = kind.definition.versions[0]?.schema ?? {}
  const value = fromSchema(schema, choice, { density: choice.of([0.1, 0.3, 0.6]), wrong: choice.of([0, 0, 0.01, 0.05]) })
  return posted('object of a schema', kind, choice, isJsonObject(value) ? (value as Record<string, Json>) : { spec: value })
}

/** Of what may be there. */
function change(choice: Choice): DataRequest {
  const sample = choice.of(SAMPLES)
  const kind = kindOf(sample.kind)
  const body = mutateJson({ ...(choice.chance(0.3) ? { metadata: choice.of(METADATA) as Json } : {}), spec: sample.spec ?? {} }, choice)
  return { family: 'change', method: 'PATCH', path: pathOf(kind, choice.of(NAMESPACES), choice.of(NAMES)), type: MERGE, body }
}

/** Controllers read what stands in a status, whoever wrote it. */
function status(choice: Choice): DataRequest {
  const kind = choice.of(fluidKinds)
  const schema = kind.definition.versions[0]?.schema.properties?.status ?? {}
  const body = { status: choice.chance(0.2) ? hostileValue(choice) : fromSchema(schema, choice, { density: 0.5, wrong: 0.02 }) }
  return { family: 'status', method: 'PATCH', path: pathOf(kind, choice.of(NAMESPACES), choice.of(NAMES), 'status'), type: MERGE, body }
}

/** A pod that mounts the claim of a dataset. */
function reader(choice: Choice): DataRequest {
  const labels = choice.chance(0.5) ? { [`fluid.io/dataset.${choice.of(NAMES)}.sched`]: choice.of(['required', 'x', '']) } : {}
  const spec = {
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: choice.of(NAMES) } }],
    tolerations: [{ operator: 'Exists' }],
  }
  const owned = { 'cacheruntime.fluid.io/name': choice.of(NAMES), 'cacheruntime.fluid.io/component-name': `${choice.of(NAMES)}-worker` }
  const name = choice.of(['reader', 'a-master-0', 'a-worker-0'])
  const metadata = { name, labels: { ...labels, ...(choice.chance(0.3) ? owned : {}) } }
  const body = { apiVersion: 'v1', kind: 'Pod', metadata, spec }
  return { family: 'reader', method: 'POST', path: `/api/v1/namespaces/${choice.of(NAMESPACES)}/pods`, type: API, body }
}

function remove(choice: Choice): DataRequest {
  const kind = kindOf(choice.of(SAMPLES).kind)
  return { family: 'delete', method: 'DELETE', path: pathOf(kind, choice.of(NAMESPACES), choice.of(NAMES)), type: API, body: {} }
}

/** What the programs of a cache print: the same for all calls of a batch. */
export function printed(seed: number, batch: number): { stdout: string; stderr: string; exitCode: number } {
  const choice = choiceFor(seed, -1 - batch)
  const stdout = choice.weighted<() => string>([
    [4, () => '{"mounted":["/","/images","/models","/scratch","/itself","/x","/data"]}'],
    [3, () => '{"mounted":["/"],"cached":"1.00GiB","ufsTotal":"2.00GiB","fileNum":"17","cacheCapacity":"4.00GiB"}'],
    [
      2,
      () => '{"mounted":["/data"],"__proto__":{"cached":"x"},"cached":-1,"ufsTotal":1e30,"fileNum":"\\u001b[31m","cachedPercentage":null}',
    ],
    [1, () => JSON.stringify({ mounted: hostileValue(choice), cached: hostileValue(choice), ufsTotal: hostileString(choice) })],
    [1, () => `{"mounted":["/"],"cached":NaN}`],
    [1, () => `{"mounted":[${'"/",'.repeat(100_000)}"/"]}`],
    [2, () => hostileText(choice)],
  ])()
  return {
    stdout,
    stderr: choice.chance(0.2) ? hostileString(choice) : '',
    exitCode: choice.weighted([
      [8, 0],
      [1, 1],
      [1, 137],
    ] as const),
  }
}
