/**
 * Looks after ThinRuntimes without a profile, which stand for the runtime of another dataset. Sole writer of their status,
 * finalizer, owner reference to the Dataset and label `fluid.io/dataset-id`. Runs again when the runtime, its dataset, or the
 * runtime of the original changes. Deletion: the finalizer stays until volume and claim of the dataset are gone; nothing else was
 * made for it.
 */
import { hasOwnCache } from '../../../kinds/fluid/admission/index.ts'
import type { Dataset, RuntimeCondition, ThinRuntime } from '../../../kinds/fluid/index.ts'
import { runtimeFinalizer } from '../../../kinds/fluid/names.ts'
import { isReference, referenceOf } from '../../../kinds/fluid/reference.ts'
import { DATASETS, THIN_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type ObjectRef, refOf } from '../../../kube/object-reference.ts'
import {
  type Action,
  type Controller,
  defineController,
  NOTHING_TO_DO,
  type PassReader,
  type Plan,
  type Reader,
  via,
} from '../../../runtime/controller.ts'
import { hasFinalizer, removeFinalizer } from '../../../runtime/finalizer.ts'
import { isUnchanged } from '../../../runtime/live-owner.ts'
import type { ReferenceConsent } from '../../../runtime/reference-consent.ts'
import { boundType, choose, RUNTIME_KINDS, runtimesNamed } from '../../dataset/runtimes.ts'
import type { Verdict } from '../../runtime/conditions.ts'
import { isJoined, join } from '../../runtime/join.ts'
import { mergePatchTo } from '../../runtime/merge-patch.ts'
import { volumeLeft } from '../../runtime/observe.ts'
import { isOurClaim } from '../../volume/desired.ts'
import { mayRefer } from '../consent.ts'
import { isGoing, REFERENCE_INDEXES, referencesOf } from '../indexes.ts'
import { wantedStatus } from './status.ts'

export interface ReferenceRuntimeDeps {
  /** What holds where an owner has stated nothing. */
  referenceConsent: ReferenceConsent
}

export interface Observed {
  runtime: ThinRuntime
  dataset: Dataset | undefined
  /** Of the original; undefined: there is none, or it may not be used. */
  source: KubeObject | undefined
  /** Of a runtime that goes: what of its volume is still there. */
  volume: string | undefined
  isStale: boolean
  nowMs: number
}

const TYPE = 'thin'
const FINALIZER = runtimeFinalizer(TYPE)

export const referenceRuntimeController = ({ referenceConsent: mode }: ReferenceRuntimeDeps): Controller =>
  defineController<Observed | undefined, ThinRuntime>({
    name: 'data.reference.runtime',
    for: THIN_RUNTIMES,
    isRelevant: (runtime) => !hasOwnCache(runtime),
    watches: [
      via(DATASETS, (dataset) => [refOf(dataset)]),
      ...RUNTIME_KINDS.map(({ resource }) => via(resource, (runtime, read) => referencesOf(refOf(runtime), read).map(refOf))),
      // Only that they are gone matters.
      via(PERSISTENT_VOLUME_CLAIMS, (claim, read) => (isOurClaim(claim) ? ifThere(refOf(claim), read) : []), {
        isRelevantUpdate: () => false,
      }),
      via(
        PERSISTENT_VOLUMES,
        ({ spec }, read) => ifThere({ namespace: spec?.claimRef?.namespace ?? '', name: spec?.claimRef?.name ?? '' }, read),
        {
          isRelevantUpdate: () => false,
        },
      ),
    ],
    indexes: REFERENCE_INDEXES,
    writes: [
      { resource: THIN_RUNTIMES, verbs: ['patch'] },
      { resource: THIN_RUNTIMES, subresource: 'status', verbs: ['patch'] },
    ],
    reads: [DATASETS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES].map((resource) => ({ resource, verbs: ['get'] })),
    concurrency: 8,
    async observe(ref, runtime, read, client) {
      if (runtime === undefined || hasOwnCache(runtime)) return undefined
      const dataset = read.get(DATASETS, ref.namespace, ref.name)
      const isJoining = dataset !== undefined && !isGoing(runtime) && isReference(dataset) && !isJoined(runtime, dataset, TYPE)
      return {
        runtime,
        dataset,
        source: dataset === undefined ? undefined : sourceOf(dataset, read, mode),
        volume: isGoing(runtime) ? await volumeLeft({ runtime, read, client }) : undefined,
        isStale: isJoining && !(await isUnchanged(client, DATASETS, dataset)),
        nowMs: read.nowMs(),
      }
    },
    plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed)),
  })

const ifThere = ({ namespace, name }: ObjectRef, read: Reader): ObjectRef[] =>
  read.get(THIN_RUNTIMES, namespace, name) === undefined ? [] : [{ namespace, name }]

/** The runtime of the original, while the reference is bound to it. */
function sourceOf(dataset: Dataset, read: PassReader, mode: ReferenceConsent): KubeObject | undefined {
  const referred = referenceOf(dataset)
  if (referred === undefined || boundType(dataset.status) !== TYPE) return undefined
  if (!mayRefer(dataset.metadata.namespace ?? '', referred, { read, mode })) return undefined
  const original = read.get(DATASETS, referred.namespace, referred.name)
  return original === undefined ? undefined : choose(runtimesNamed(referred, read), boundType(original.status)).runtime?.object
}

export function plan(observed: Observed): Plan {
  const { runtime, dataset, volume, isStale } = observed
  if (isGoing(runtime)) {
    if (!hasFinalizer(runtime, FINALIZER)) return NOTHING_TO_DO
    if (volume === undefined) return { actions: [removeFinalizer(THIN_RUNTIMES, runtime, FINALIZER)] }
  }
  if (isStale) return NOTHING_TO_DO
  const isServed = dataset !== undefined && isReference(dataset)
  if (isServed && !isGoing(runtime) && !isGoing(dataset) && !isJoined(runtime, dataset, TYPE))
    return { actions: [join({ resource: THIN_RUNTIMES, type: TYPE }, runtime, dataset)] }
  return { actions: statusWrite(observed) }
}

function statusWrite(observed: Observed): Action[] {
  const { runtime, dataset, source, nowMs } = observed
  const { conditions: before } = (runtime.status ?? {}) as { conditions?: RuntimeCondition[] }
  const served = verdictOf(observed)
  const status = wantedStatus({ dataset, runtime: source, served, before, nowMs })
  const patch = mergePatchTo((runtime.status ?? {}) as Record<string, unknown>, status)
  return patch === undefined ? [] : [{ do: 'patch', resource: THIN_RUNTIMES, of: runtime, patch: { status: patch }, subresource: 'status' }]
}

function verdictOf({ runtime, dataset, source, volume }: Observed): Verdict {
  const { namespace = '', name = '' } = runtime.metadata
  const no = (reason: string, message: string): Verdict => ({ status: 'False', reason, message })
  if (volume !== undefined)
    return no('Deleted', `it is being deleted, and waits until ${volume} is gone: delete the pods that use it, also those that have ended`)
  if (dataset === undefined)
    return no('NoDataset', `there is no Dataset ${name} in namespace ${namespace}, which this runtime would serve: create it`)
  const referred = referenceOf(dataset)
  if (referred === undefined)
    return no(
      'NoProfile',
      `a ThinRuntime without profileName serves a dataset that refers to another one, and Dataset ${name} has no mount dataset://<namespace>/<name>: give it one, or name a ThinRuntimeProfile in profileName`,
    )
  if (source === undefined) return no('NotBound', `Dataset ${name} is not bound: its conditions say what it waits for`)
  return { status: 'True', reason: 'Served', message: `the runtime of Dataset ${referred.namespace}/${referred.name} serves it` }
}
