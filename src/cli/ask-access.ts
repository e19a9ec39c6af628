/** Asks a server whether a user may do something, with a SubjectAccessReview. */
import type { Client } from '../client/client.ts'
import type { AccessQuestion } from '../kinds/admission.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'

const SUBJECT_ACCESS_REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
}

export async function askAccess(client: Client, { user, ...resourceAttributes }: AccessQuestion): Promise<boolean> {
  const review: KubeObject = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: SUBJECT_ACCESS_REVIEWS.kind,
    metadata: {},
    spec: { user: user.name, uid: user.uid, groups: user.groups, extra: user.extra, resourceAttributes },
  }
  const { status } = await client.create(SUBJECT_ACCESS_REVIEWS, review)
  return (status as { allowed?: boolean } | undefined)?.allowed === true
}
