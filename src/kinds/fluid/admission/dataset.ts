/** Admission of Dataset. */
import { type FieldError, forbidden } from '../../../kube/field-error.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Admission, type AdmissionReader, defineAdmission } from '../../admission.ts'
import { PERSISTENT_VOLUME_CLAIMS } from '../../kubernetes/resources.ts'
import { quoted } from '../../volcano/annotations.ts'
import type { Dataset } from '../index.ts'
import { DATASETS } from '../resources.ts'
import { ANNOTATIONS, CREATED_BY_FLUID } from '../well-known.ts'
import { datasetErrors } from './dataset-rules.ts'
import type { HostPathPrefixes } from './host-paths.ts'
import { createdObject, introducedErrors } from './introduced.ts'
import { nameErrors } from './name-rules.ts'
import { introducedReferenceErrors, type MayRefer, REFERENCE_READS } from './reference-rules.ts'

export const datasetAdmission = (hostPathPrefixes: HostPathPrefixes, mayRefer: MayRefer): Admission =>
  defineAdmission({
    name: 'Dataset',
    about:
      'Refuses datasets whose mounts, options or names cannot work, whose claim would be one that exists already, and new references that nobody can follow.',
    resources: [{ group: DATASETS.group, resource: DATASETS.plural }],
    operations: ['CREATE', 'UPDATE'],
    reads: [PERSISTENT_VOLUME_CLAIMS, ...REFERENCE_READS],
    validate(request, { read, warn }) {
      const errors = [
        ...introducedErrors<Dataset>(request, ({ spec }) => datasetErrors(spec, hostPathPrefixes)),
        ...introducedReferenceErrors(request, { read, mayRefer }),
      ]
      if (errors.length === 0) for (const warning of ignoredPaths(request.object as Dataset | undefined)) warn(warning)
      const created = createdObject(request)
      return created === undefined ? errors : [...nameErrors(created), ...claimErrors(created, read), ...errors]
    },
  })

/** Pods mount a dataset by a claim of its name: a stranger's claim would be taken for it. */
function claimErrors({ metadata: { namespace = '', name = '' } }: KubeObject, read: AdmissionReader): FieldError[] {
  const claim = read.get({ group: PERSISTENT_VOLUME_CLAIMS.group, resource: PERSISTENT_VOLUME_CLAIMS.plural }, namespace, name)
  if (claim === undefined || claim.metadata.annotations?.[ANNOTATIONS.createdBy] === CREATED_BY_FLUID) return []
  return [
    forbidden(
      'metadata.name',
      `a PersistentVolumeClaim ${quoted(name)} that belongs to no dataset exists in this namespace: choose another name, or delete the claim first`,
    ),
  ]
}

/** Warnings are cut off at 256 characters, so the first is enough. */
function ignoredPaths(dataset: Dataset | undefined): string[] {
  const mounts = dataset?.spec?.mounts ?? []
  const i = mounts.findIndex(({ path = '' }) => path !== '' && !path.startsWith('/'))
  const { path = '', name = '' } = mounts[i] ?? {}
  return i < 0
    ? []
    : [
        `spec.mounts[${i}].path ${quoted(path.slice(0, 48))} is not absolute and has no effect: the data appears at ${quoted(`/${name.slice(0, 48)}`)}`,
      ]
}
