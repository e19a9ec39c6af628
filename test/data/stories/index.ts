/** Every area of stories; one line each. */
import type { DataArea } from '../story.ts'
import { binding } from './binding.ts'
import { changes } from './changes.ts'
import { coLocated } from './co-located.ts'
import { consent } from './consent.ts'
import { defects } from './defects.ts'
import { deletion } from './deletion.ts'
import { engines } from './engines.ts'
import { locality } from './locality.ts'
import { mounting } from './mounting.ts'
import { placement } from './placement.ts'
import { referenceDeletion } from './reference-deletion.ts'
import { references } from './references.ts'
import { scaleIn } from './scale-in.ts'
import { scaling } from './scaling.ts'
import { sharing } from './sharing.ts'
import { sidecars } from './sidecars.ts'
import { volumes } from './volumes.ts'

// biome-ignore format: one line each
export const AREAS: readonly DataArea[] = [
  binding,
  placement,
  scaling,
  deletion,
  locality,
  mounting,
  volumes,
  engines,
  changes,
  defects,
  sharing,
  references,
  consent,
  referenceDeletion,
  scaleIn,
  coLocated,
  sidecars,
]
