/**
 * The seam for modules that change or refuse the pods of a member before they are stored: pure functions of the pod and what
 * they declare to read. The member's own server calls them in process; on Kubernetes they are served as webhooks.
 */
import { type Admission, type AdmissionContext, type AdmissionLabel, type AdmissionRead, defineAdmission } from '../../kinds/admission.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { FieldError } from '../../kube/field-error.ts'

export interface PodAdmission {
  name: string
  /** One sentence for the reference. */
  about: string
  /** What it reads besides the pod. */
  reads?: readonly AdmissionRead[]
  /** As a webhook, it is called only for pods with this label; it must still check for the label itself. */
  label?: AdmissionLabel
  /** As a webhook: what happens to a pod while it cannot be called (default: `Ignore`). `Fail` needs a label. */
  failurePolicy?: 'Fail' | 'Ignore'
  /**
   * After the pod admissions of all modules that do not say so: it must see what they injected. Otherwise the order is that of
   * the modules. It also holds among our webhooks; those of other programs come before or after all of ours, by name.
   */
  runsLast?: boolean
  /** May change the pod in place. */
  mutate?(pod: Pod, namespace: string, context: AdmissionContext): void
  /** What is wrong with the pod. */
  validate?(pod: Pod, namespace: string, context: AdmissionContext): readonly FieldError[]
}

/** The same as an admission of new pods. */
export function asAdmission({ mutate, validate, ...declared }: PodAdmission): Admission {
  return defineAdmission({
    ...declared,
    resources: [{ group: '', resource: 'pods' }],
    operations: ['CREATE'],
    ...(mutate === undefined
      ? {}
      : {
          mutate({ object, namespace }, context) {
            if (object !== undefined) mutate(object as Pod, namespace, context)
          },
        }),
    ...(validate === undefined
      ? {}
      : {
          validate: ({ object, namespace }, context) =>
            object === undefined ? undefined : [...validate(object as Pod, namespace, context)],
        }),
  })
}
