/**
 * Whether a dataset may refer to one of another namespace: the owner of that namespace decides (`src/runtime/reference-consent.ts`).
 * Without consent there is one text, whether the original exists or not.
 */

import { Dataset } from '../../kinds/fluid/index.ts'
import type { Original } from '../../kinds/fluid/reference.ts'
import type { ReferenceGrant } from '../../kinds/gateway/reference-grant.ts'
import { type ConsentSource, isPermitted, isPermittedAmong, type ReferenceConsent } from '../../runtime/reference-consent.ts'

export const DATASET_KIND = Object.freeze({ group: Dataset.group, kind: Dataset.kind })

export const mayRefer = (namespace: string, to: Original, source: ConsentSource): boolean =>
  isPermitted({ ...DATASET_KIND, namespace }, { ...DATASET_KIND, namespace: to.namespace, name: to.name }, source)

export const mayReferBy =
  (mode: ReferenceConsent) =>
  (namespace: string, to: Original, grants: readonly ReferenceGrant[]): boolean =>
    isPermittedAmong(grants, {
      from: { ...DATASET_KIND, namespace },
      to: { ...DATASET_KIND, namespace: to.namespace, name: to.name },
      mode,
    })

export const withheldText = (from: string, { namespace, name }: Original): string =>
  `Dataset ${namespace}/${name} does not exist, or may not be used from namespace ${from}: ask whoever owns namespace ${namespace} for the dataset, and for a ReferenceGrant there from kind Dataset of namespace ${from} to kind Dataset`

export const withdrawnText = (from: string, { namespace, name }: Original): string =>
  `namespace ${from} may not use Dataset ${namespace}/${name} any more: pods that run keep their files, new ones are not given any; ask whoever owns namespace ${namespace} for a ReferenceGrant there from kind Dataset of namespace ${from} to kind Dataset`
