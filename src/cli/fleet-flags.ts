/** What can be set about the fleet on the command line: times, the rate of evictions, and Karmada's feature gates. */
import type { FleetOptions } from '../fleet/controllers.ts'
import { parseGates } from '../fleet/gates.ts'
import { CommandError } from './machine.ts'

/** As they were written; those that are absent mean the default. */
export interface FleetFlags {
  clusterStatusPeriod?: string
  clusterFailureThreshold?: string
  clusterSuccessThreshold?: string
  evictionRate?: string
  clusterToleration?: string
  evictionPurgeMode?: string
  gracefulEvictionTimeout?: string
  featureGates?: string
}

/** Flag, its option, and what it says of itself. */
export const FLEET_FLAGS: readonly (readonly [flag: string, name: keyof FleetFlags, says: string])[] = [
  ['--cluster-status-period <seconds>', 'clusterStatusPeriod', 'between two looks at a member (default 10)'],
  [
    '--cluster-failure-threshold <seconds>',
    'clusterFailureThreshold',
    'after which a member that does not answer is not ready (default 30)',
  ],
  ['--cluster-success-threshold <seconds>', 'clusterSuccessThreshold', 'after which a member that answers again is ready (default 30)'],
  ['--eviction-rate <n>', 'evictionRate', 'bindings that taints may drive away per second (default 0.5)'],
  [
    '--cluster-toleration <seconds>',
    'clusterToleration',
    'how long work stays in a cluster that is not ready where its policy does not say (default 0)',
  ],
  [
    '--eviction-purge-mode <mode>',
    'evictionPurgeMode',
    'how work leaves where its policy does not say: Gracefully or Directly (default Gracefully)',
  ],
  [
    '--graceful-eviction-timeout <seconds>',
    'gracefulEvictionTimeout',
    'how long the copy in a cluster that is left waits for the others to be healthy (default 600)',
  ],
  ['--feature-gates <gates>', 'featureGates', "Karmada's gates, as Failover=false,PropagateDeps=true (default all on)"],
]

/** The story does not wait as long as a fleet of strangers should. */
export const STORY_FLAGS: FleetFlags = {
  clusterStatusPeriod: '1',
  clusterFailureThreshold: '2',
  clusterSuccessThreshold: '2',
  evictionRate: '10',
}

export function fleetOptionsOf(flags: FleetFlags): FleetOptions {
  const periodMs = millis('--cluster-status-period', flags.clusterStatusPeriod, 0.1)
  const failureThresholdMs = millis('--cluster-failure-threshold', flags.clusterFailureThreshold)
  const successThresholdMs = millis('--cluster-success-threshold', flags.clusterSuccessThreshold)
  const evictionsPerSecond = amount('--eviction-rate', flags.evictionRate, 0.001)
  const tolerationSeconds = amount('--cluster-toleration', flags.clusterToleration)
  const purgeMode = purgeModeOf(flags.evictionPurgeMode)
  const gracefulEvictionTimeoutSeconds = amount('--graceful-eviction-timeout', flags.gracefulEvictionTimeout)
  return {
    clusterStatus: given({ periodMs, failureThresholdMs, successThresholdMs }),
    failover: given({ evictionsPerSecond, tolerationSeconds, purgeMode, gracefulEvictionTimeoutSeconds }),
    gates: gatesOf(flags.featureGates),
  }
}

/** The same flags for a start in the background. */
export const fleetArguments = (flags: FleetFlags): string[] =>
  FLEET_FLAGS.flatMap(([flag, name]) => {
    const value = flags[name]
    return value === undefined ? [] : [flag.slice(0, flag.indexOf(' ')), value]
  })

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

const given = <T extends object>(values: T): Given<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>

function purgeModeOf(text: string | undefined): 'Gracefully' | 'Directly' | undefined {
  if (text === undefined || text === 'Gracefully' || text === 'Directly') return text
  throw new CommandError(`--eviction-purge-mode is Gracefully or Directly, not ${JSON.stringify(text)}`)
}

function gatesOf(text: string | undefined): FleetOptions['gates'] {
  if (text === undefined) return undefined
  const gates = parseGates(text)
  if (gates.error !== undefined) throw new CommandError(`--feature-gates: ${gates.error}`)
  return gates.value
}

const MOST = 1_000_000

function amount(flag: string, text: string | undefined, least = 0): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || value < least || value > MOST)
    throw new CommandError(`${flag} takes a number from ${least} to ${MOST}, not ${JSON.stringify(text)}`)
  return value
}

function millis(flag: string, text: string | undefined, least = 0): number | undefined {
  const seconds = amount(flag, text, least)
  return seconds === undefined ? undefined : Math.round(seconds * 1000)
}
