/**
 * The key that masters and workers share: a Secret that is made once, before the masters, and never read or changed. If it was
 * lost, masters wait for it: then it is made again. A master that runs has the old one, so nothing is made beside it.
 */
import type { Random } from '../../base/random.ts'
import { ADVANCED_STATEFUL_SETS } from '../../kinds/fluid/resources.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'
import type { Secret } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { refOf } from '../../kube/object-reference.ts'
import type { Reader } from '../../runtime/controller.ts'
import { controllerReference } from '../../runtime/workloads/pod/ownership.ts'
import type { Prepared } from '../engines/engine.ts'
import { isOf } from './parts.ts'
import { podNamesOf, startingSinceMs } from './pods.ts'

export interface Key {
  /** To be made if there is none; undefined: it is there as far as anybody can tell. */
  secret?: Secret
  /** When to look again: nobody says when a Secret is gone to whom may not read Secrets. */
  againMs?: number
}

const KEY_BYTES = 32
/** A master that has not started for this long may be waiting for its key; the time between two attempts doubles from here. */
const FIRST_DOUBT_MS = 10_000
const LAST_DOUBT_MS = 600_000

interface KeyInput {
  runtime: KubeObject
  prepared: Prepared
  read: Reader
  random: Random
}

export function keyOf({ runtime, prepared, read, random }: KeyInput): Key {
  const { keySecret: name, components } = prepared
  const first = components.master ?? components.worker
  if (name === undefined || first === undefined) return {}
  const { namespace } = refOf(runtime)
  const set = read.get(ADVANCED_STATEFUL_SETS, namespace, first.name)
  if (set === undefined) return { secret: secretOf(runtime, name, random) }
  if (!isOf(set, runtime)) return {}
  const pod = podNamesOf(set).flatMap((one) => read.get(PODS, namespace, one) ?? [])[0]
  const since = pod === undefined ? undefined : startingSinceMs(pod)
  if (since === undefined || Number.isNaN(since)) return {}
  const waitedMs = read.nowMs() - since
  if (waitedMs < FIRST_DOUBT_MS) return { againMs: FIRST_DOUBT_MS - waitedMs }
  return { secret: secretOf(runtime, name, random), againMs: Math.min(LAST_DOUBT_MS, waitedMs) }
}

const secretOf = (runtime: KubeObject, name: string, random: Random): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: runtime.metadata.namespace, name, ownerReferences: [controllerReference(runtime)] },
  type: 'Opaque',
  data: { key: Buffer.from(random.bytes(KEY_BYTES)).toString('base64') },
})
