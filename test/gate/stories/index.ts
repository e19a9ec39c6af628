/** Every area of stories; one line each. */
import type { FleetArea } from '../../fleet/story.ts'
import { claimsAndWorkloads } from './claims-and-workloads.ts'
import { following } from './following.ts'
import { freezing } from './freezing.ts'
import { losingData } from './losing-data.ts'
import { people } from './people.ts'
import { producing } from './producing.ts'
import { severalClaims } from './several-claims.ts'
import { staying } from './staying.ts'

// biome-ignore format: one line each
export const AREAS: readonly FleetArea[] = [
  following,
  severalClaims,
  staying,
  losingData,
  freezing,
  claimsAndWorkloads,
  producing,
  people,
]
