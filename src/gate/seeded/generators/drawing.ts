/** What the generators of the gate share: few names, so that sources, claims and workloads meet. */
import type { Random } from '../../../base/random.ts'
import { DATA_DEPENDENCY_GROUP } from '../../../kinds/volcano/well-known.ts'

export const API_VERSION = `${DATA_DEPENDENCY_GROUP}/v1alpha1`
export const SYSTEM = 'hive'
export const TYPE = 'table'
/** Data that people describe, and data that a workload makes; sometimes it is the other way round. */
export const SALES = 'sales'
export const MADE = 'made'

export const REPORT = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'report' }
export const TRAIN = { apiVersion: 'batch/v1', kind: 'Job', name: 'train' }
export const MAKE = { apiVersion: 'batch/v1', kind: 'Job', name: 'make' }
/** The label by which claims select workloads. */
export const SELECTED = { needs: 'data' }

export function oneOf<T>(random: Random, all: readonly T[]): T {
  const chosen = all[Math.floor(random.next() * all.length)]
  if (chosen === undefined) throw new Error('there is nothing to choose from')
  return chosen
}

export function metadataOf(where: string): { namespace: string; name: string } {
  const [namespace = '', name = ''] = where.split('/')
  return { namespace, name }
}

/** The texts without those that are null, which a change removes. */
export const withoutNulls = (texts: Readonly<Record<string, string | null>>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).flatMap(([key, text]) => (text === null ? [] : [[key, text]])))
