/** The type of all overriders: from an object to the overridden object. They throw DoesNotApply. */
import type { KubeObject } from '../../../kube/meta.ts'

export type Override<Overrider> = (object: KubeObject, overrider: Overrider) => KubeObject
