/**
 * What admission does to a Work: its manifests lose what members must not get. The managed keys are recorded from what
 * remains, so this runs after the Work was given its permanent id.
 */
import { isJsonObject } from '../../base/json.ts'
import { type Admission, defineAdmission } from '../../kinds/admission.ts'
import { WORKS } from '../../kinds/karmada/resources.ts'
import type { Work } from '../../kinds/karmada/work.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { manifestsOf, recordedManifest } from './manifest.ts'

export const workAdmission: Admission = defineAdmission({
  name: 'WorkManifests',
  about: 'Prunes the manifests of a Work and records which of their labels and annotations are managed.',
  resources: [{ group: WORKS.group, resource: WORKS.plural }],
  operations: ['CREATE', 'UPDATE'],
  mutate({ object }) {
    if (object === undefined) return
    const work = object as Work
    const workload = work.spec?.workload
    if (!Array.isArray(workload?.manifests)) return
    workload.manifests = manifestsOf(work).map((manifest) => (isObject(manifest) ? recordedManifest(manifest, work) : manifest)) as never
  },
})

/** Validation comes later: what is not an object at all is left for it to refuse. */
const isObject = (manifest: KubeObject): boolean => isJsonObject(manifest) && isJsonObject(manifest.metadata)
