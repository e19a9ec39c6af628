/**
 * The two spellings of data operations: the names of the design (`operationKind`, `shell`, `spec.job`, `job.template`) and those
 * that Fluid built (`kind`, `script`, `processor.job`, `job.podSpec`), which every other program reads. Whatever is said in the
 * first is written in the second as well. Where both are there, the one that a change touched is followed; if both were touched
 * and differ, neither is, and `disagreements` says so. Comes before the schema, so any JSON may come in. Pure but for the object.
 */
import { deepClone, deepEqual, isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'

interface Spelling {
  design: string
  built: string
  /** What the first spelling says, in the form of the second. */
  readDesign(object: KubeObject): Json | undefined
  readBuilt(object: KubeObject): Json | undefined
  writeDesign(object: KubeObject, value: Json): void
  writeBuilt(object: KubeObject, value: Json): void
}

type Path = readonly string[]

const at = (value: unknown, path: Path): Json | undefined => {
  let found = value
  for (const name of path) found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
  return found as Json | undefined
}

const objectAt = (value: unknown, path: Path): JsonObject | undefined => {
  const found = at(value, path)
  return isJsonObject(found) ? found : undefined
}

/** Makes what is missing on the way; leaves alone what is no object. What is on the way may be shared with the stored object, so it is copied. */
function put(object: KubeObject, path: Path, value: Json | undefined): void {
  let holder = object as unknown as JsonObject
  for (const name of path.slice(0, -1)) {
    const next = Object.hasOwn(holder, name) ? (holder[name] ?? {}) : {}
    if (!isJsonObject(next)) return
    holder[name] = { ...next }
    holder = holder[name]
  }
  const last = path.at(-1) ?? ''
  if (value === undefined) delete holder[last]
  else holder[last] = deepClone(value)
}

const without = (of: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(of).filter(([name]) => !names.includes(name)))

const SPEC: Path = ['spec']
const RUN_AFTER: Path = [...SPEC, 'runAfter']
const PROCESSOR: Path = [...SPEC, 'processor']
const SHELL: Path = [...PROCESSOR, 'shell']
const SCRIPT: Path = [...PROCESSOR, 'script']
const JOB: Path = [...PROCESSOR, 'job']
const OUTER_JOB: Path = [...SPEC, 'job']
const TEMPLATE_SPEC: Path = [...JOB, 'template', 'spec']
const POD_SPEC: Path = [...JOB, 'podSpec']

const sameValue = (design: Path, built: Path): Spelling => ({
  design: design.join('.'),
  built: built.join('.'),
  readDesign: (object) => at(object, design),
  readBuilt: (object) => at(object, built),
  writeDesign: (object, value) => put(object, design, value),
  writeBuilt: (object, value) => put(object, built, value),
})

/** What is said of a job beside its pod, which has spellings of its own. */
const outerJob: Spelling = {
  ...sameValue(OUTER_JOB, JOB),
  readBuilt(object) {
    const job = objectAt(object, JOB)
    const rest = job === undefined ? undefined : without(job, ['podSpec'])
    return rest === undefined || Object.keys(rest).length === 0 ? undefined : rest
  },
  writeBuilt(object, value) {
    const podSpec = at(object, POD_SPEC)
    put(object, JOB, value)
    if (podSpec !== undefined) put(object, POD_SPEC, podSpec)
  },
}

/** A name and a tag; a colon before the last slash belongs to the registry. */
function splitImage(image: string): { image: string; imageTag?: string } {
  const colon = image.lastIndexOf(':')
  return colon <= image.lastIndexOf('/') ? { image } : { image: image.slice(0, colon), imageTag: image.slice(colon + 1) }
}

const joinImage = (image: Json | undefined, tag: Json | undefined): Json | undefined =>
  typeof image === 'string' && typeof tag === 'string' && tag !== '' ? `${image}:${tag}` : image

const SHELL_COMMAND = ['/bin/sh']

const shell: Spelling = {
  design: SHELL.join('.'),
  built: SCRIPT.join('.'),
  readDesign(object) {
    const of = objectAt(object, SHELL)
    if (of === undefined) return undefined
    const image = at(object, [...PROCESSOR, 'image'])
    const source = of.script ?? of.scrip
    return {
      ...without(of, ['script', 'scrip']),
      ...(typeof image === 'string' && of.image === undefined ? splitImage(image) : {}),
      command: of.command ?? SHELL_COMMAND,
      ...(source === undefined ? {} : { source }),
    }
  },
  readBuilt: (object) => at(object, SCRIPT),
  writeDesign(object, value) {
    if (!isJsonObject(value)) return
    const [old, processor] = [objectAt(object, SHELL) ?? {}, objectAt(object, PROCESSOR) ?? {}]
    const isOutside = processor.image !== undefined && old.image === undefined
    const { source, ...rest } = value
    const kept = isOutside ? without(rest, ['image', 'imageTag']) : rest
    const names = ['script', 'scrip'].filter((name) => old[name] !== undefined)
    put(object, SHELL, { ...kept, ...Object.fromEntries((names.length === 0 ? ['script'] : names).map((name) => [name, source ?? ''])) })
    if (isOutside) put(object, [...PROCESSOR, 'image'], joinImage(value.image, value.imageTag))
  },
  writeBuilt: (object, value) => put(object, SCRIPT, value),
}

const operationKind = sameValue([...RUN_AFTER, 'operationKind'], [...RUN_AFTER, 'kind'])
const scrip = sameValue([...SHELL, 'scrip'], [...SHELL, 'script'])
const template = sameValue(TEMPLATE_SPEC, POD_SPEC)
/** The job twice: its pod may have been changed in the form that Fluid built. */
const SPELLINGS: readonly Spelling[] = [operationKind, scrip, shell, outerJob, template, outerJob]
const EACH = [...new Set(SPELLINGS)]

/** Changes the object; `old` is what it is an update of. */
export function writeBuiltNames(object: KubeObject, old?: KubeObject): void {
  if (!isJsonObject(object.spec)) return
  if (old !== undefined) takeBack(object, old)
  for (const spelling of SPELLINGS) settle(spelling, object, old)
}

function settle(spelling: Spelling, object: KubeObject, old: KubeObject | undefined): void {
  const [design, built] = [spelling.readDesign(object), spelling.readBuilt(object)]
  if (design === undefined || deepEqual(design, built)) return
  if (built === undefined) spelling.writeBuilt(object, design)
  if (built === undefined || old === undefined) return
  const isDesignNew = !deepEqual(design, spelling.readDesign(old))
  const isBuiltNew = !deepEqual(built, spelling.readBuilt(old))
  if (isDesignNew && !isBuiltNew) spelling.writeBuilt(object, design)
  if (isBuiltNew && !isDesignNew) spelling.writeDesign(object, built)
}

/**
 * What was written beside something goes with it. Who empties `runAfter`, or exchanges one processor for another, knows nothing of
 * the second spelling: a server-side apply or a patch takes back only the fields that it made.
 */
function takeBack(object: KubeObject, old: KubeObject): void {
  const name: Path = [...RUN_AFTER, 'name']
  if (at(object, name) === undefined && at(old, name) !== undefined) put(object, RUN_AFTER, undefined)
  const comes = (...paths: Path[]): boolean =>
    paths.some((path) => at(object, path) !== undefined) && paths.every((path) => at(old, path) === undefined)
  if (isLeft(shell, object, old) && comes(JOB, OUTER_JOB)) put(object, SCRIPT, undefined)
  if ((isLeft(outerJob, object, old) || isLeft(template, object, old)) && comes(SCRIPT, SHELL)) put(object, JOB, undefined)
}

/** The first spelling was taken away, and what was written in the second is still there. */
const isLeft = (spelling: Spelling, object: KubeObject, old: KubeObject): boolean =>
  spelling.readDesign(old) !== undefined &&
  spelling.readDesign(object) === undefined &&
  deepEqual(spelling.readBuilt(object), spelling.readBuilt(old))

export interface Disagreement {
  field: string
  detail: string
}

/** Where both spellings are there and say different things. */
export const disagreements = (object: KubeObject): Disagreement[] =>
  EACH.filter((spelling) => {
    const [design, built] = [spelling.readDesign(object), spelling.readBuilt(object)]
    return design !== undefined && built !== undefined && !deepEqual(design, built)
  }).map(({ design, built }) => ({ field: design, detail: `${built} says something else, and both mean the same: give one of the two` }))
