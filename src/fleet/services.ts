/** What the controllers of the fleet share: the members they reach, the templates they find, the interpreter they ask. */
import type { Clock } from '../base/clock.ts'
import { type Random, uuid } from '../base/random.ts'
import type { Members } from '../client/members.ts'
import { SERVICES } from '../kinds/kubernetes/resources.ts'
import type { ControllerMetrics } from '../runtime/metrics.ts'
import type { ModuleEnv } from '../runtime/module/env.ts'
import type { Templates } from '../runtime/templates.ts'
import type { EvictionRate } from './failover/eviction-rate.ts'
import { evictionRateOf } from './failover/index.ts'
import { followCustomizations } from './interpreter/follow.ts'
import { createInterpreter } from './interpreter/index.ts'
import type { Interpreter } from './interpreter/interpreter.ts'
import { nativeLayer } from './interpreter/native/index.ts'
import { bundledLayer } from './interpreter/third-party/bundled-layer.ts'
import type { AddressedService } from './interpreter/webhook/address.ts'
import { createFleetMetrics } from './metrics/index.ts'
import type { FleetMeasures } from './metrics/measures.ts'
import type { FleetOptions } from './options.ts'

/** What most parts of the fleet need. */
export interface FleetDeps {
  templates: Templates
  members: Members
  interpreter: Interpreter
  /** Where work is counted (default: nowhere). */
  measures?: FleetMeasures
}

export interface FleetServices extends FleetDeps {
  clock: Clock
  random: Random
  /** Resolves when the interpreter knows all rules. */
  ready: Promise<unknown>
  /** How fast taints evict bindings. */
  evictions: EvictionRate
  observes: Partial<ControllerMetrics> | undefined
}

export function fleetServices(env: ModuleEnv, { gates, failover }: FleetOptions): FleetServices {
  const { caches, clock, random, members, templates, postJson, registry } = env
  const priorityClassName = gates?.ResourceQuotaEstimate !== false
  const interpreter = createInterpreter({
    now: () => clock.now(),
    priorityClassName,
    native: nativeLayer({ priorityClassName }),
    thirdParty: bundledLayer({ now: () => clock.now(), priorityClassName }),
    webhooks: postJson === undefined ? undefined : { call: postJson, uid: () => uuid(random), addresses: { service } },
  })
  // Services are cached only where webhooks can be called: a webhook may name one.
  const services = postJson === undefined ? undefined : caches.of(SERVICES)
  function service(namespace: string, name: string): AddressedService | undefined {
    return services?.get(namespace, name) as AddressedService | undefined
  }
  const ready = followCustomizations(caches, interpreter)
  const metrics = registry === undefined ? undefined : createFleetMetrics(registry, clock)
  const evictions = evictionRateOf(failover)
  metrics?.measures.watchEvictions(() => evictions.waiting())
  return { clock, random, ready, members, interpreter, templates, evictions, measures: metrics?.measures, observes: metrics?.observer }
}
