/** Asks a server whether somebody has a right there. */
import { isJsonObject } from '../base/json.ts'
import type { Right } from '../kinds/admission.ts'
import type { UserInfo } from '../kinds/kind.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'
import type { Client } from './client.ts'

const SUBJECT_ACCESS_REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
}

export async function hasRight(client: Pick<Client, 'create'>, { name, uid, groups, extra }: UserInfo, right: Right): Promise<boolean> {
  const { group, version, kind } = SUBJECT_ACCESS_REVIEWS
  const spec = { user: name, uid, groups, extra, resourceAttributes: right }
  const review: KubeObject = { apiVersion: `${group}/${version}`, kind, metadata: {}, spec }
  const { status } = await client.create(SUBJECT_ACCESS_REVIEWS, review)
  return isJsonObject(status) && status.allowed === true && status.denied !== true
}
