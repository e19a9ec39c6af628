/** Server-side apply and managed fields, as pure functions over objects and their linked schemas. */
export { serverSideApply } from './apply.ts'
export { resetPathsOf } from './reset-paths.ts'
export { parentManagedFields, type ScaleOwnership, scaleManagedFields } from './scale.ts'
export { keepTimesWhenUnchanged, trackUpdate } from './track.ts'
export type { ApplyContext } from './versions.ts'
