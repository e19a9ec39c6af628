/** What users do: they write their desired state, whatever the cluster is doing at the time. */

import { ApiError, isAlreadyExists, isConflict, isNotFound } from '../../client/errors.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Generator } from '../../runtime/seams/seeded.ts'
import type { WorldCluster } from '../world/index.ts'
import { changePastAdmission } from '../world/past-admission.ts'
import type { Step } from './script.ts'
import type { SeededWorld } from './seeded-world.ts'

export function generatorOf(world: SeededWorld, step: Step): Generator {
  const generator = world.generators.find(({ name }) => name === step.thing)
  if (generator === undefined) throw new Error(`there is no generator ${step.thing} in the world ${world.name}`)
  return generator
}

/** Tried once; a refusal by the server is final. */
export async function applyDesired(cluster: WorldCluster, generator: Generator, { name, desired: wanted }: Step): Promise<void> {
  try {
    if (wanted === null) await cluster.delete(generator.resource, name, { propagationPolicy: 'Background' })
    else if (generator.passesAdmission === true)
      await changePastAdmission(cluster, generator.resource, name, (live) => changed(live, generator, { name, wanted }))
    else if (generator.isOnlyChanged === true) await change(cluster, generator, { name, wanted })
    else await createOrChange(cluster, generator, { name, wanted })
  } catch (error) {
    // Gone, terminating, or changed concurrently: it is written again at the end.
    if (!(error instanceof ApiError) || !isEverydayLife(error)) throw error
  }
}

const isEverydayLife = (error: ApiError): boolean =>
  isNotFound(error) || isConflict(error) || isAlreadyExists(error) || error.code === 422 || error.code === 403

interface Change {
  name: string
  wanted: unknown
}

async function createOrChange(cluster: WorldCluster, generator: Generator, { name, wanted }: Change): Promise<void> {
  try {
    await cluster.create(generator.object(name, wanted))
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    await change(cluster, generator, { name, wanted })
  }
}

const change = (cluster: WorldCluster, generator: Generator, { name, wanted }: Change): Promise<unknown> =>
  cluster.update(generator.resource, name, (live) => changed(live, generator, { name, wanted }))

function changed(live: KubeObject, generator: Generator, { name, wanted }: Change): void {
  if (generator.change !== undefined) generator.change(live, wanted)
  else live.spec = generator.object(name, wanted).spec
}

/** Whether the object matches the desired state, or is absent as desired. */
export async function isAsDesired(cluster: WorldCluster, generator: Generator, { name, desired: wanted }: Step): Promise<boolean> {
  const live = await cluster.get(generator.resource, name)
  if (wanted === null) return live === undefined
  return live !== undefined && live.metadata.deletionTimestamp === undefined
}
