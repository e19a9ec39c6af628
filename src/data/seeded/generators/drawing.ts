/** What the generators of data share: few names, so that datasets, runtimes, claims and pods meet. */
import type { Random } from '../../../base/random.ts'
import type { KubeObject } from '../../../kube/meta.ts'

export const API_VERSION = 'data.fluid.io/v1alpha1'
/** Two namespaces with a dataset of the same name. */
export const NAMESPACES = ['default', 'lab'] as const
/** Where people have claims and other runtimes of that name, too: whoever comes first has it. */
export const CLAIMED = 'lab'
export const DEMO = 'demo'
/** A dataset that asks for its runtime by an annotation. */
export const ASKED = 'default/asked'
/** A class of workers alone, and one with masters that mount sources and report. */
export const PLAIN = 'plain'
export const REPORTING = 'reporting'
/** What the caches of a cluster answer, and how often they fail first. */
export const ANSWERS = 'default/answers'
export const CREDENTIALS = 'credentials'
/** A namespace without data of its own, whose datasets refer to others. */
export const WEB = 'web'
/** A namespace that people delete and create again. */
export const TEAM = 'team-a'
/** What no other namespace may see: in Secrets, options of mounts and options of runtimes. */
export const hiddenIn = (namespace: string): string => `hidden-in-${namespace}`

/** In two members, so that what belongs together meets. */
export const isFor = (cluster: string): boolean => cluster === 'member1' || cluster === 'member2'

export function oneOf<T>(random: Random, all: readonly T[]): T {
  const chosen = all[Math.floor(random.next() * all.length)]
  if (chosen === undefined) throw new Error('there is nothing to choose from')
  return chosen
}

export function metadataOf(where: string): { namespace: string; name: string } {
  const [namespace = '', name = ''] = where.split('/')
  return { namespace, name }
}

export const readerOf = (where: string): string => `${where}-reader`
export const sidecarPodOf = (where: string): string => `${where}-sidecar`

/** The kinds of this group, as they are created. */
export const anObject = (kind: string, where: string, spec: unknown): KubeObject => ({
  apiVersion: API_VERSION,
  kind,
  metadata: metadataOf(where),
  spec: spec as Record<string, unknown>,
})
