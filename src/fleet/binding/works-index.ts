import { type BindingKind, permanentIdOf } from '../../kinds/karmada/binding-kinds.ts'
import type { Binding, Work } from '../../kinds/karmada/index.ts'
import { WORKS } from '../../kinds/karmada/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfRef, type ObjectRef } from '../../kube/object-reference.ts'
import { type Index, indexOf } from '../../runtime/controller.ts'

const WORKS_OF_BINDING = 'works-of-binding'
const byId = (id: string): string => `id ${id}`
const byName = (ref: ObjectRef): string => `name ${keyOfRef(ref)}`

/** Works by the binding they were made for: by its permanent id, and by its name. */
export const worksIndex = (kind: BindingKind): Index =>
  indexOf(WORKS, WORKS_OF_BINDING, (work: Work) => {
    const id = permanentIdOf(kind, work)
    const ref = kind.namedBy(work)
    return [...(id === '' ? [] : [byId(id)]), ...(ref === undefined ? [] : [byName(ref)])]
  })

interface WorksReader {
  byIndex(resource: typeof WORKS, index: string, value: string): Work[]
}

/** Those with its permanent id. Bindings can be given any id, so what names a binding of another namespace is not this one's. */
export function worksWithIdOf(read: WorksReader, kind: BindingKind, binding: Binding): Work[] {
  const id = permanentIdOf(kind, binding)
  return id === '' ? [] : read.byIndex(WORKS, WORKS_OF_BINDING, byId(id)).filter((work) => isWithin(kind, work, binding))
}

/** Whether a Work may be one of this binding, by the namespace of the binding that it names. */
export const isWithin = (kind: BindingKind, work: KubeObject, { metadata }: Binding): boolean =>
  (kind.namedBy(work)?.namespace ?? metadata.namespace ?? '') === (metadata.namespace ?? '')

/** Includes those of an earlier binding of the same name. */
export const worksNaming = (read: WorksReader, ref: ObjectRef): Work[] => read.byIndex(WORKS, WORKS_OF_BINDING, byName(ref))
