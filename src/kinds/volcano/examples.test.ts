import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../../kube/meta.ts'
import { matchesLabels, selectorFromObject } from '../../kube/selector.ts'
import { admit as admitKarmada } from '../karmada/admission/testing.ts'
import { type Cluster, PropagationPolicy } from '../karmada/index.ts'
import { admit, admitRequest, requestOf } from './admission/testing.ts'
import { DataSource, DataSourceClaim, volcanoKinds } from './index.ts'
import { clustersOf, matches } from './matching.ts'

const FOLDER = path.resolve('examples/seeds/001')
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'))
const objectsIn = (file: string): KubeObject[] =>
  parseAllDocuments(readFileSync(path.join(FOLDER, file), 'utf8')).map((document) => document.toJS() as KubeObject)
const ALL = FILES.flatMap(objectsIn)

const REGIONS: [string, string][] = [
  ['member1', 'east'],
  ['member2', 'west'],
  ['member3', 'north'],
]
const CLUSTERS = REGIONS.map(
  ([name, region]): Cluster => ({
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { syncMode: 'Push', region },
  }),
)
const PLURALS: Readonly<Record<string, { group: string; resource: string }>> = {
  Deployment: { group: 'apps', resource: 'deployments' },
  Job: { group: 'batch', resource: 'jobs' },
}

async function problemsOf(object: KubeObject): Promise<string[]> {
  const { apiVersion: _, kind, metadata, ...content } = object
  const own = volcanoKinds.find((one) => one.kind === kind)
  if (own !== undefined) {
    const { object: stored, schema, refused, warnings } = await admit(own, content, { metadata, clusters: REGIONS.map(([name]) => name) })
    const expected = kind === 'DataSource' ? { reclaimPolicy: 'Retain', ...(object.spec as object) } : object.spec
    assert.deepEqual(stored.spec, expected, 'nothing is lost')
    return [...schema, ...refused, ...warnings]
  }
  if (kind === 'PropagationPolicy') {
    const { schema, refused } = await admitKarmada(PropagationPolicy, content, { metadata })
    return [...schema, ...refused]
  }
  const plural = PLURALS[kind]
  assert.ok(plural, `${kind} is of a known kind`)
  return (await admitRequest(requestOf(plural, object, undefined))).refused
}

describe('examples/seeds/001', () => {
  for (const file of FILES)
    for (const object of objectsIn(file))
      it(`${file}: ${object.kind} ${object.metadata.name} is accepted as it is`, async () => assert.deepEqual(await problemsOf(object), []))

  it('is described file by file', () => {
    const page = readFileSync(path.join(FOLDER, 'README.md'), 'utf8')
    for (const file of FILES) assert.ok(page.includes(`\`${file}\``) && page.includes(`-f ${file}`), file)
  })

  it('has every field of the proposal', () => {
    const fields = (kind: string) =>
      new Set(ALL.filter((object) => object.kind === kind).flatMap(({ spec }) => Object.keys(spec as object)))
    const specOf = ({ versions }: typeof DataSource | typeof DataSourceClaim) =>
      Object.keys(versions.v1alpha1.schema.properties?.spec?.properties ?? {})
    assert.deepEqual([...fields('DataSource')].sort(), specOf(DataSource).sort())
    assert.deepEqual([...fields('DataSourceClaim')].sort(), specOf(DataSourceClaim).sort())
    const every = ALL.find(({ metadata }) => metadata.name === 'sales-archive') as DataSource
    assert.deepEqual(Object.keys(every.spec.locality.clusterAffinity ?? {}), ['labelSelector', 'fieldSelector', 'clusterNames', 'exclude'])
  })

  it('binds as the page says', () => {
    const claims = ALL.filter((object): object is DataSourceClaim => object.kind === 'DataSourceClaim')
    const sources = ALL.filter((object): object is DataSource => object.kind === 'DataSource')
    const bound = claims.map((claim) => {
      const found = sources.filter((source) => matches(claim, source))
      return [
        claim.metadata.name,
        found.map(({ metadata }) => metadata.name),
        found.flatMap((source) => clustersOf(source, CLUSTERS).joined),
      ]
    })
    assert.deepEqual(Object.fromEntries(bound.map(([name, ...rest]) => [name, rest])), {
      archive: [['sales-archive'], ['member1', 'member2']],
      clicks: [['clicks-hourly'], ['member3']],
      sales: [['sales-daily'], ['member2']],
    })
  })

  it('is for the workloads that the page names', () => {
    const workloads = ALL.filter(({ kind }) => kind in PLURALS)
    const selected = ALL.filter((object): object is DataSourceClaim => object.kind === 'DataSourceClaim').map((claim) => {
      const { workload, workloadSelector } = claim.spec
      const { value: selector } = selectorFromObject(workloadSelector)
      const byLabel = (labels: Record<string, string> | undefined): boolean => selector !== undefined && matchesLabels(selector, labels)
      const names = workloads.filter(({ metadata }) => byLabel(metadata.labels)).map(({ metadata }) => metadata.name)
      return [claim.metadata.name, workload === undefined ? names : [workload.name]]
    })
    assert.deepEqual(Object.fromEntries(selected), { archive: ['audit'], clicks: ['dashboard'], sales: ['report', 'audit'] })
  })
})
