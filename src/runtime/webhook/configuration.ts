/**
 * The webhook configurations that make a server call our admission, derived from the declarations. Our own kinds fail
 * closed: an object that was not checked must not get in. Kinds of others fail open, because we must not block a cluster,
 * unless the admission says otherwise about objects with its label. A server calls our webhooks in the order given here, and
 * orders configurations of several programs by name.
 */
import type { Admission, AdmissionLabel } from '../../kinds/admission.ts'
import type { KubeObject } from '../../kube/meta.ts'

export interface WebhookTarget {
  /** `https://host:port` at which the API server reaches us. */
  url: string
  /** PEM of the authority that signed our serving certificate. */
  authority: string
}

export const webhookPath = (admission: Admission, phase: 'mutate' | 'validate'): string => `/${phase}/${kebab(admission.name)}`

/** `ownGroups` are the API groups of our own kinds. */
export function webhookConfigurations(
  name: string,
  admissions: readonly Admission[],
  { target, ownGroups }: { target: WebhookTarget; ownGroups: readonly string[] },
): KubeObject[] {
  const webhook = (admission: Admission, phase: 'mutate' | 'validate'): Record<string, unknown> => ({
    name: `${kebab(admission.name)}.${phase}.sluice.dev`,
    clientConfig: { url: `${target.url}${webhookPath(admission, phase)}`, caBundle: Buffer.from(target.authority).toString('base64') },
    rules: admission.resources.map(({ group, resource }) => ({
      apiGroups: [group],
      apiVersions: ['*'],
      resources: [resource],
      operations: [...admission.operations],
      scope: '*',
    })),
    ...(admission.label === undefined ? {} : { objectSelector: selectorOf(admission.label) }),
    failurePolicy: failurePolicyOf(admission, ownGroups),
    matchPolicy: 'Equivalent',
    sideEffects: 'None',
    timeoutSeconds: 10,
    admissionReviewVersions: ['v1'],
    ...(phase === 'mutate' ? { reinvocationPolicy: 'IfNeeded' } : {}),
  })
  const mutating = admissions.filter((admission) => admission.mutate !== undefined).map((admission) => webhook(admission, 'mutate'))
  const validating = admissions.filter((admission) => admission.validate !== undefined).map((admission) => webhook(admission, 'validate'))
  return [
    ...(mutating.length === 0 ? [] : [configuration('MutatingWebhookConfiguration', name, mutating)]),
    ...(validating.length === 0 ? [] : [configuration('ValidatingWebhookConfiguration', name, validating)]),
  ]
}

const selectorOf = ({ key, value }: AdmissionLabel): object =>
  value === undefined ? { matchExpressions: [{ key, operator: 'Exists' }] } : { matchLabels: { [key]: value } }

function failurePolicyOf({ name, resources, label, failurePolicy }: Admission, ownGroups: readonly string[]): 'Fail' | 'Ignore' {
  const isOwn = resources.every(({ group }) => ownGroups.includes(group))
  if (failurePolicy === 'Fail' && !isOwn && label === undefined)
    throw new Error(`${name} would block objects of others that never asked for it: give it a label, or let it fail open`)
  return failurePolicy ?? (isOwn ? 'Fail' : 'Ignore')
}

const configuration = (kind: string, name: string, webhooks: unknown[]): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name },
  webhooks,
})

const kebab = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()
