/** The controllers of datasets that refer to other datasets. */
import type { Controller } from '../../runtime/controller.ts'
import type { ReferenceConsent } from '../../runtime/reference-consent.ts'
import { referenceDatasetController } from './dataset/controller.ts'
import { referenceMirrorController } from './mirror/controller.ts'
import type { Sharing } from './mirror/mirror.ts'
import { referenceRuntimeController } from './runtime/controller.ts'

export interface ReferenceControllersOptions extends Sharing {
  /** What holds where an owner has stated nothing. */
  referenceConsent: ReferenceConsent
}

export const referenceControllers = (options: ReferenceControllersOptions): Controller[] => [
  referenceDatasetController(options),
  referenceRuntimeController(options),
  referenceMirrorController(options),
]
