/**
 * Plays all attempts of a cluster at once, and tells what can then be seen of each namespace: everything that is stored in it, and what
 * the server refused. Names that only chance decides are left out, so that two runs can be compared byte by byte.
 */

import { data } from '../../src/data/module.ts'
import { aWorld, type WorldCluster } from '../../src/faultsim/world/index.ts'
import { writesOf } from '../../src/faultsim/world/snapshot.ts'
import { gate } from '../../src/gate/module.ts'
import { DATASETS } from '../../src/kinds/fluid/resources.ts'
import { ReferenceGrant } from '../../src/kinds/gateway/reference-grant.ts'
import { DATA_SOURCES } from '../../src/kinds/volcano/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { MODULES } from '../../src/modules.ts'
import { ATTEMPTS, type Attempt, consentOf, ORIGINAL, THEIRS } from './attempts.ts'

export type Consent = 'given' | 'withheld' | 'withdrawn'

export interface Plan {
  role: Attempt['role']
  consent: Consent
  /** Whether there is anything in the other namespace. */
  hasOriginal?: boolean
  /** Whether what was there goes at the end. */
  losesOriginal?: boolean
  /** Default: all; `entries`: those that consent can let in. */
  attempts?: 'all' | 'entries' | 'none'
}

export interface Seen {
  /** By namespace, as lines. */
  namespaces: ReadonlyMap<string, readonly string[]>
  /** Of attempts that consent can let in: the phase of their entry. */
  phases: ReadonlyMap<string, string | undefined>
  refusals: ReadonlyMap<string, readonly string[]>
}

export async function play({ role, consent, hasOriginal = true, losesOriginal = false, attempts: which = 'all' }: Plan): Promise<Seen> {
  const modules = MODULES.map((module) =>
    module === data ? data.with({ referenceConsent: 'grant' }) : module === gate ? gate.with({ referenceConsent: 'grant' }) : module,
  )
  const options = role === 'hub' ? { members: 1, modules } : { hub: false, members: 1, nodes: 2, modules }
  const world = await aWorld(options).settle()
  try {
    const cluster = role === 'hub' ? world.hub : world.member
    const attempts = ATTEMPTS.filter((attempt) => attempt.role === role)
    for (const name of [THEIRS, ...attempts.map((attempt) => attempt.name)])
      await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    if (consent !== 'withheld')
      for (const object of consentOf(attempts.filter(({ entry }) => entry !== undefined))) await cluster.create(object)
    const theirs = originals(role)
    if (hasOriginal) for (const object of theirs) await cluster.create(object)
    await world.settle()
    const refusals = new Map<string, string[]>()
    for (const attempt of attempts)
      if (which === 'all' || (which === 'entries' && attempt.entry !== undefined))
        refusals.set(attempt.name, await attack(cluster, attempt))
    await world.settle()
    if (consent === 'withdrawn') {
      for (const { metadata } of consentOf([])) await cluster.delete(ReferenceGrant.resource, `${THEIRS}/${metadata.name}`)
      await world.settle()
    }
    if (losesOriginal) {
      await cluster.delete(...LOST[role])
      await world.settle()
    }
    const phases = new Map<string, string | undefined>()
    for (const { name, entry } of attempts)
      if (entry !== undefined) phases.set(name, await phaseOf(cluster, entry.resource, `${name}/${entry.name}`))
    return { namespaces: linesOf(cluster), phases, refusals }
  } finally {
    await world.stop()
  }
}

async function attack(cluster: WorldCluster, { name, objects }: Attempt): Promise<string[]> {
  const refused: string[] = []
  for (const object of objects)
    try {
      await cluster.create({ ...object, metadata: { ...object.metadata, namespace: name } })
    } catch (error) {
      refused.push(`${object.kind} ${object.metadata.name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  return refused
}

const phaseOf = async (cluster: WorldCluster, resource: Parameters<WorldCluster['get']>[0], where: string): Promise<string | undefined> =>
  ((await cluster.get(resource, where))?.status as { phase?: string } | undefined)?.phase

const LOST: Readonly<Record<Attempt['role'], readonly [Parameters<WorldCluster['get']>[0], string]>> = {
  member: [DATASETS, `${THEIRS}/${ORIGINAL}`],
  hub: [DATA_SOURCES, 'sales'],
}

/** What is in the other namespace, or of it. */
const originals = (role: Attempt['role']): KubeObject[] =>
  role === 'hub'
    ? [
        at('v1', 'ConfigMap', 'own', { data: { key: 'value' } }),
        at('policy.karmada.io/v1alpha1', 'PropagationPolicy', 'all', {
          spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'own' }], placement: {} },
        }),
        {
          apiVersion: 'datadependency.volcano.sh/v1alpha1',
          kind: 'DataSource',
          metadata: { name: 'sales', annotations: { 'sluice.dev/producer-namespace': THEIRS } },
          spec: { system: 'hive', type: 'table', name: 'sales', locality: { clusterNames: ['member1'] } },
        } as KubeObject,
      ]
    : [
        at('v1', 'Secret', 'keys', { stringData: { key: 'open-sesame' } }),
        at('data.fluid.io/v1alpha1', 'Dataset', ORIGINAL, {
          spec: { mounts: [{ mountPoint: 'https://example.com/images', name: 'all', options: { 'aws.secretKey': 'open-sesame' } }] },
        }),
        at('data.fluid.io/v1alpha1', 'CacheRuntime', ORIGINAL, { spec: { runtimeClassName: 'builtin' } }),
        at('data.fluid.io/v1alpha1', 'DataLoad', 'load', { spec: { dataset: { name: ORIGINAL, namespace: THEIRS } } }),
        at('v1', 'PersistentVolumeClaim', 'photos', {
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'none' },
        }),
      ]

const at = (apiVersion: string, kind: string, name: string, fields: object): KubeObject =>
  ({ apiVersion, kind, metadata: { namespace: THEIRS, name }, ...fields }) as KubeObject

/** What is in no namespace belongs to the one that it names. */
function homeOf({ kind, metadata, spec }: KubeObject): string | undefined {
  if (metadata.namespace !== undefined) return metadata.namespace
  if (kind === 'PersistentVolume') return (spec as { claimRef?: { namespace?: string } } | undefined)?.claimRef?.namespace
  return kind === 'DataSource' ? metadata.annotations?.['sluice.dev/producer-namespace'] : undefined
}

function linesOf({ store }: Pick<WorldCluster, 'store'>): Map<string, string[]> {
  const last = new Map<string, string | undefined>()
  for (const { key, type, text } of writesOf(store)) last.set(key, type === 'put' ? String(text) : undefined)
  const lines = new Map<string, string[]>()
  for (const text of last.values()) {
    const object = text === undefined ? undefined : (JSON.parse(text) as KubeObject)
    const home = object === undefined ? undefined : homeOf(object)
    if (object !== undefined && home !== undefined) lines.set(home, [...(lines.get(home) ?? []), lineOf(object)])
  }
  for (const [home, found] of lines) lines.set(home, found.sort())
  return lines
}

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g

function lineOf(object: KubeObject): string {
  const { resourceVersion: _, managedFields: _fields, ...metadata } = object.metadata
  // What an event is called has the time in it.
  const named = object.kind === 'Event' ? { ...metadata, name: '' } : metadata
  return (
    JSON.stringify({ ...object, metadata: named })
      .replace(UID, 'UID')
      .replace(TIME, 'TIME')
      // Where a pod runs depends on who else does.
      .replace(/"(?:nodeName|hostIP|podIP|ip)":"[^"]*"/g, '')
      .replace(/"(?:topology\.kubernetes\.io|failure-domain)[^"]*":"[^"]*",?/g, '')
      .replace(/assigned (\S+) to \S+/, 'assigned $1')
      .replace(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-')
      .replace(/"resourceVersion":"\d+"/g, '"resourceVersion":""')
  )
}
