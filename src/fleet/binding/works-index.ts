import { type BindingKind, permanentIdOf } from '../../kinds/karmada/binding-kinds.ts'
import type { Work } from '../../kinds/karmada/index.ts'
import { WORKS } from '../../kinds/karmada/resources.ts'
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

export const worksWithId = (read: WorksReader, id: string): Work[] => (id === '' ? [] : read.byIndex(WORKS, WORKS_OF_BINDING, byId(id)))

/** Includes those of an earlier binding of the same name. */
export const worksNaming = (read: WorksReader, ref: ObjectRef): Work[] => read.byIndex(WORKS, WORKS_OF_BINDING, byName(ref))
