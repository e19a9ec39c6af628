/** Pods that write the attributes of a dataset's volume themselves are refused when they are created, not on their node. Pure. */
import { CSI_DRIVER } from '../../kinds/fluid/well-known.ts'
import { child, forbidden, index } from '../../kube/field-error.ts'
import { inlineRefusal } from '../../runtime/seams/csi-driver.ts'
import type { PodAdmission } from '../../runtime/seams/pod-admission.ts'

export const inlineVolumes: PodAdmission = {
  name: 'DatasetInlineVolumes',
  about: 'Refuses pods with an inline `csi` volume of datasets: a claim is how a namespace uses them.',
  validate: ({ spec }) =>
    (spec?.volumes ?? []).flatMap(({ csi }, i) =>
      csi?.driver === CSI_DRIVER ? [forbidden(child(index('spec.volumes', i), 'csi', 'driver'), inlineRefusal(CSI_DRIVER))] : [],
    ),
}
