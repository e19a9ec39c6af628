/** What all overriders are: an object in, the object as the overrider wants it out. They throw DoesNotApply. */
import type { KubeObject } from '../../../kube/meta.ts'

export type Override<Overrider> = (object: KubeObject, overrider: Overrider) => KubeObject
