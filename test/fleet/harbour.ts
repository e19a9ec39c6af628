/** The setting of stories about a webhook: boats that it alone knows, a policy that divides the ferry, and the webhook's failures. */
import { askAbout, type Boat, BoatWebhook } from './boat-webhook.ts'
import type { Listening } from './listening.ts'
import { aConfigMap, aPropagationPolicy, on, selectorOf } from './manifests.ts'
import { type OwnKind, ownKind } from './own-kind.ts'
import type { FleetTestbed, Place } from './story.ts'
import { weighted } from './workloads.ts'

export interface Harbour {
  boats: OwnKind
  webhook: BoatWebhook
  listening: Listening
}

/** Boats that only the webhook knows, and a policy that divides the ferry. */
export async function harbour(testbed: FleetTestbed): Promise<Harbour> {
  const [member1, member2] = testbed.members
  const boats = await ownKind(testbed)
  const webhook = new BoatWebhook()
  const listening = await askAbout(testbed, boats, webhook)
  const placement = { ...on(member1, member2), ...weighted({ member1: 1, member2: 2 }) }
  await testbed.hub.create(aConfigMap('coast', { depth: '7' }))
  await testbed.hub.create(aPropagationPolicy('ferry', [selectorOf(boats.make('ferry'))], placement, { propagateDeps: true }))
  return { boats, webhook, listening }
}

export const launch = (testbed: FleetTestbed, { boats }: Harbour): Promise<unknown> =>
  testbed.hub.create(boats.make('ferry', { seats: 6, color: 'red', chart: 'coast' }), boats.resource)

export const ferryAt = (place: Place, { boats }: Harbour): Promise<Boat | undefined> =>
  place.get(boats.resource, 'ferry') as Promise<Boat | undefined>

const FAILED = 'Internal error occurred: failed calling webhook "[^"]+/[^"]+": '

interface BadDay {
  name: string
  begin(harbour: Harbour): void
  why: RegExp
}

export const BAD_DAYS: readonly BadDay[] = [
  {
    name: 'is gone',
    begin: ({ listening }) => {
      listening.isDown = true
    },
    why: new RegExp(`${FAILED}failed to call webhook: https://.+ did not answer: `),
  },
  {
    name: 'says no',
    begin: ({ webhook }) => {
      webhook.mood = 'refusing'
    },
    why: new RegExp(`${FAILED}webhook call failed, get status code: 503, msg: the harbour is closed$`),
  },
  {
    name: 'talks nonsense',
    begin: ({ webhook }) => {
      webhook.mood = 'confused'
    },
    why: new RegExp(`${FAILED}failed to call webhook: https://.+ answered no JSON: `),
  },
]

export function endBadDay({ webhook, listening }: Harbour): void {
  webhook.mood = 'well'
  listening.isDown = false
}
