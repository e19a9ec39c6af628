/** Every Work gets its permanent id, and its manifests name the Work they belong to. */
import { isJsonObject } from '../../../base/json.ts'
import { type Admission, defineAdmission } from '../../admission.ts'
import { items, maybeObject } from '../../kubernetes/rules/fields.ts'
import { GROUPS } from '../kube-schemas.ts'
import { markedManifest } from '../manifest-marks.ts'
import { WORK_ID } from '../well-known.ts'
import { setMissingLabel } from './metadata.ts'

export const workAdmission: Admission = defineAdmission({
  name: 'Work',
  about: 'Gives every Work its permanent id and writes it into the manifests, with the labels and annotations that are managed.',
  resources: [{ group: GROUPS.work, resource: 'works' }],
  operations: ['CREATE', 'UPDATE'],
  mutate({ object }, { newUid }) {
    if (object === undefined) return
    setMissingLabel(object, WORK_ID, newUid)
    const workload = maybeObject(object.spec, 'workload')
    if (workload === undefined || !Array.isArray(workload.manifests)) return
    const id = object.metadata.labels?.[WORK_ID] ?? ''
    workload.manifests = items(workload, 'manifests').map((manifest) =>
      isJsonObject(manifest) ? markedManifest(manifest as Record<string, unknown>, id) : manifest,
    )
  },
})
