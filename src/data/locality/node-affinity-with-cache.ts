/**
 * A pod should run near the caches of its datasets. Those that its labels require must be near: all of them, each at one of its
 * places. A pod that says itself where it belongs, by a label of the tiered locality, is left alone.
 */
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { PodPlugin } from './pod-change.ts'
import type { PodDataset } from './pod-datasets.ts'
import { localityNames, placesOf, type TieredLocality } from './tiered-locality.ts'

const REQUIRED_KEY = /^fluid\.io\/dataset\.([A-Za-z0-9.-]+)\.sched$/

export function nodeAffinityWithCache(locality: TieredLocality): PodPlugin {
  const names = localityNames(locality)
  return {
    name: 'NodeAffinityWithCache',
    changeOf(pod, datasets) {
      if (mentions(pod, names)) return {}
      const claims = requiredClaims(pod)
      const required = datasets
        .filter(({ claim }) => claims.has(claim))
        .map((dataset) => ({ dataset, places: locality.required.flatMap((name) => placesOf(dataset, name)) }))
      return {
        required: required.map(({ places }) => places),
        preferred: datasets.filter(({ claim }) => !claims.has(claim)).flatMap((dataset) => preferencesOf(dataset, locality)),
        warnings: [
          ...[...claims]
            .filter((claim) => !datasets.some((dataset) => dataset.claim === claim))
            .map((claim) => `label fluid.io/dataset.${claim}.sched has no effect: the pod mounts no dataset by a claim of that name`),
          ...required
            .filter(({ places }) => places.length === 0)
            .map(
              ({ dataset }) =>
                `label fluid.io/dataset.${dataset.claim}.sched has no effect: the runtime of the dataset states none of ${locality.required.join(', ')}`,
            ),
        ],
      }
    },
  }
}

/** Of one kind, per dataset. Preferences are a hint: a cache that may be in more places than this is near everywhere. */
const MOST_PREFERENCES = 100

const preferencesOf = (dataset: PodDataset, { preferred }: TieredLocality) =>
  preferred.flatMap(({ name, weight }) =>
    placesOf(dataset, name)
      .slice(0, MOST_PREFERENCES)
      .map((preference) => ({ weight, preference })),
  )

/** In the order of their names. */
function requiredClaims({ metadata: { labels = {} } }: Pod): ReadonlySet<string> {
  const required = Object.entries(labels).filter(([, value]) => value === 'required')
  return new Set(required.flatMap(([key]) => REQUIRED_KEY.exec(key)?.[1] ?? []).sort())
}

function mentions({ spec = {} }: Pod, keys: ReadonlySet<string>): boolean {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution: preferred } =
    spec.affinity?.nodeAffinity ?? {}
  const terms = [...(required?.nodeSelectorTerms ?? []), ...(preferred ?? []).map(({ preference }) => preference ?? {})]
  const mentioned = terms.flatMap(({ matchExpressions = [] }) => matchExpressions.map(({ key }) => key ?? ''))
  return [...mentioned, ...Object.keys(spec.nodeSelector ?? {})].some((key) => keys.has(key))
}
