/** The options of the fleet, and the flags that set them: times, the eviction rate, and Karmada's feature gates. */
import { parsed, unparsed } from '../kube/parsed.ts'
import { type Flag, numberFlag } from '../runtime/module/flags.ts'
import type { FailoverOptions } from './failover/index.ts'
import { type FleetGates, parseGates } from './gates.ts'
import type { ClusterStatusOptions } from './membership/index.ts'

/** Whatever is absent has a default. */
export interface FleetOptions {
  clusterStatus?: Partial<ClusterStatusOptions>
  failover?: Partial<Omit<FailoverOptions, 'gates'>>
  /** Those that are not named are on. */
  gates?: Partial<FleetGates>
}

/** Users give seconds. */
const milliseconds = (seconds: number): number => Math.round(seconds * 1000)

const statusFlag = (key: keyof ClusterStatusOptions, flag: string, about: string, least?: number): Flag<FleetOptions> =>
  numberFlag({
    flag,
    about,
    least,
    set: (options, seconds) => ({ ...options, clusterStatus: { ...options.clusterStatus, [key]: milliseconds(seconds) } }),
  })

type FailoverNumber = 'evictionsPerSecond' | 'tolerationSeconds' | 'gracefulEvictionTimeoutSeconds'

const failoverFlag = (key: FailoverNumber, flag: string, about: string, least?: number): Flag<FleetOptions> =>
  numberFlag({ flag, about, least, set: (options, value) => ({ ...options, failover: { ...options.failover, [key]: value } }) })

export const FLEET_FLAGS: readonly Flag<FleetOptions>[] = [
  statusFlag('periodMs', '--cluster-status-period <seconds>', 'between two looks at a member (default 10)', 0.1),
  statusFlag(
    'failureThresholdMs',
    '--cluster-failure-threshold <seconds>',
    'after which a member that does not answer is not ready (default 30)',
  ),
  statusFlag(
    'successThresholdMs',
    '--cluster-success-threshold <seconds>',
    'after which a member that answers again is ready (default 30)',
  ),
  failoverFlag('evictionsPerSecond', '--eviction-rate <n>', 'bindings that taints may drive away per second (default 0.5)', 0.001),
  failoverFlag(
    'tolerationSeconds',
    '--cluster-toleration <seconds>',
    'how long work stays in a cluster that is not ready where its policy does not say (default 0)',
  ),
  {
    flag: '--eviction-purge-mode <mode>',
    about: 'how work leaves where its policy does not say: Gracefully or Directly (default Gracefully)',
    read(text, options) {
      if (text !== 'Gracefully' && text !== 'Directly')
        return unparsed(`--eviction-purge-mode is Gracefully or Directly, not ${JSON.stringify(text)}`)
      return parsed({ ...options, failover: { ...options.failover, purgeMode: text } })
    },
  },
  failoverFlag(
    'gracefulEvictionTimeoutSeconds',
    '--graceful-eviction-timeout <seconds>',
    'how long the copy in a cluster that is left waits for the others to be healthy (default 600)',
  ),
  {
    flag: '--feature-gates <gates>',
    about: "Karmada's gates, as Failover=false,PropagateDeps=true (default all on)",
    read(text, options) {
      const gates = parseGates(text)
      return gates.error !== undefined ? unparsed(`--feature-gates: ${gates.error}`) : parsed({ ...options, gates: gates.value })
    },
  },
]
