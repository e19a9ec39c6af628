/** Pods as kube-controller-manager creates them from a template, under names that are derived and therefore repeatable. */
import type { Pod, PodTemplateSpec } from '../../../kinds/kubernetes/types.ts'
import { childName } from '../../../kube/child-name.ts'
import type { KubeObject, ObjectMeta } from '../../../kube/meta.ts'
import { controllerReference } from './ownership.ts'

const MAX_NAME = 253

export interface PodInput {
  template: PodTemplateSpec | undefined
  owner: KubeObject
  name: string
  /** Default: `<owner>-`. Empty for pods whose names Kubernetes does not generate. */
  generateName?: string
}

/** Labels, annotations and finalizers of the template, its spec, and the owner as controller. */
export function podFromTemplate({ template, owner, name, generateName }: PodInput): Pod {
  const { labels = {}, annotations, finalizers } = template?.metadata ?? {}
  const prefix = generateName ?? podNamePrefix(owner.metadata.name ?? '')
  const metadata: ObjectMeta = {
    name,
    ...(prefix === '' ? {} : { generateName: prefix }),
    namespace: owner.metadata.namespace,
    labels: { ...labels },
    ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
    ownerReferences: [controllerReference(owner)],
    ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
  }
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: template?.spec ?? {} }
}

/** The dash is omitted if it would make the name too long. */
export const podNamePrefix = (ownerName: string): string => (ownerName.length < MAX_NAME ? `${ownerName}-` : ownerName)

/**
 * The seed for the names of an owner's next children: it changes with every change of the owner, as when a child
 * is gone and no longer counted, so that the name of a deleted pod is not reused.
 */
export const nameSeed = ({ metadata: { uid = '', resourceVersion = '' } }: KubeObject): string => `${uid} ${resourceVersion}`

/**
 * `count` names for new children, none of which `isTaken`. A repeated decision gives the same names, so that a creation
 * whose outcome was lost meets the first attempt.
 */
export function freshNames(
  prefix: string,
  { seed, count, isTaken }: { seed: string; count: number; isTaken(name: string): boolean },
): string[] {
  const names = new Set<string>()
  for (let n = 0; names.size < count; n++) {
    const name = childName(prefix, seed, String(n))
    if (!isTaken(name)) names.add(name)
  }
  return [...names]
}
