/** What the fleet stands on in one process: members it can reach, templates it can find, an interpreter that follows its rules. */
import { type Random, uuid } from '../base/random.ts'
import { NO_MEMBERS, NOTHING } from '../client/cache/nothing.ts'
import type { ConnectMember } from '../client/members.ts'
import { SERVICES } from '../kinds/kubernetes/resources.ts'
import type { Ground } from '../runtime/run-all.ts'
import type { FleetFacts } from './controllers.ts'
import type { FleetGates } from './gates.ts'
import { followCustomizations } from './interpreter/follow.ts'
import { createInterpreter } from './interpreter/index.ts'
import { nativeLayer } from './interpreter/native/index.ts'
import { bundledLayer } from './interpreter/third-party/bundled-layer.ts'
import type { AddressedService } from './interpreter/webhook/address.ts'
import type { WebhookCall } from './interpreter/webhook/webhook-layer.ts'
import { type FollowedMembers, followMembers } from './membership/index.ts'
import { createTemplates, type PropagationOptions } from './templates.ts'

export interface FleetGroundOptions {
  connect: ConnectMember
  webhooks?: WebhookCall
  propagation?: PropagationOptions
  gates?: Partial<FleetGates>
}

export function fleetGround(ground: Ground, options: FleetGroundOptions): FleetFacts & { members: FollowedMembers; ready: Promise<void> } {
  const { caches, everything, keepsManager, told } = ground
  const { clock, random } = told
  const priorityClassName = options.gates?.ResourceQuotaEstimate !== false
  const interpreter = createInterpreter({
    now: () => clock.now(),
    priorityClassName,
    native: nativeLayer({ priorityClassName }),
    thirdParty: bundledLayer({ now: () => clock.now(), priorityClassName }),
    webhooks: options.webhooks === undefined ? undefined : { call: options.webhooks, uid: () => uuid(random), addresses: { service } },
  })
  // A cache of Services only where a webhook can be asked for: they name one.
  const services = options.webhooks === undefined ? undefined : caches.of(SERVICES)
  function service(namespace: string, name: string): AddressedService | undefined {
    return services?.get(namespace, name) as AddressedService | undefined
  }
  const ready = followCustomizations(caches, interpreter)
  const members = followMembers({ caches, connect: options.connect, keepsManager, clock, random })
  return { clock, random, ready, members, interpreter, templates: createTemplates(everything, options.propagation) }
}

/** For who only asks what is declared: nothing of it runs. */
export function fleetInWords(): FleetFacts {
  const clock = { now: () => 0, after: () => () => undefined }
  const random: Random = { next: () => 0, bytes: (count) => new Uint8Array(count) }
  const interpreter = createInterpreter({ now: () => 0, native: nativeLayer() })
  return { clock, random, members: NO_MEMBERS, interpreter, templates: createTemplates(NOTHING) }
}
