/**
 * Fields whose feature gates are off in v1.36: dropped from what is sent, unless the stored object already uses them.
 */

import { type Fields, isSet, maybeObject, objects } from '../fields.ts'
import { allContainers } from './containers-walk.ts'

const PROJECTIONS = ['clusterTrustBundle', 'podCertificate']

export function dropDisabledFields(spec: Fields, old: Fields | undefined): void {
  for (const key of PROJECTIONS) {
    if (projections(old).some((source) => isSet(source, key))) continue
    for (const source of projections(spec)) delete source[key]
  }
  if (!isSet(old, 'schedulingGroup')) delete spec.schedulingGroup
  if (lifecycles(old).some((lifecycle) => isSet(lifecycle, 'stopSignal'))) return
  for (const { container } of allContainers(spec)) {
    const lifecycle = maybeObject(container, 'lifecycle')
    if (lifecycle === undefined || !isSet(lifecycle, 'stopSignal')) continue
    delete lifecycle.stopSignal
    if (!isSet(lifecycle, 'preStop') && !isSet(lifecycle, 'postStart')) delete container.lifecycle
  }
}

const projections = (spec: Fields | undefined): Fields[] =>
  objects(spec, 'volumes').flatMap((volume) => objects(maybeObject(volume, 'projected'), 'sources'))

const lifecycles = (spec: Fields | undefined): Fields[] =>
  allContainers(spec).map(({ container }) => maybeObject(container, 'lifecycle') ?? {})

const STATUSES = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']

const statusMounts = (status: Fields | undefined): Fields[] =>
  STATUSES.flatMap((key) => objects(status, key).flatMap((container) => objects(container, 'volumeMounts')))

export function dropDisabledStatusFields(status: Fields, old: Fields | undefined): void {
  if (!statusMounts(old).some((mount) => isSet(mount, 'volumeStatus'))) for (const mount of statusMounts(status)) delete mount.volumeStatus
  if (objects(old, 'nodeAllocatableResourceClaimStatuses').length === 0) delete status.nodeAllocatableResourceClaimStatuses
}
