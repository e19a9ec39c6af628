/** Server-side apply and managed fields, as pure functions over objects and their linked schemas. */
export { type ApplyInput, type ApplyResult, serverSideApply } from './apply.ts'
export { type Door, resetPathsOf } from './reset-paths.ts'
export { parentManagedFields, type ScaleOwnership, scaleManagedFields } from './scale.ts'
export { keepTimesWhenUnchanged, type TrackInput, trackUpdate } from './track.ts'
export type { ApplyContext } from './versions.ts'
