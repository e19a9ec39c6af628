/**
 * DataSource and DataSourceClaim as volcano-global defines them: only names of clusters, a claim for exactly one workload, one
 * name for each of the two lists that we write twice, no short names and no columns. Written after their shape, so that CI
 * needs no files of theirs. Also reads theirs, from a folder.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../../src/kube/meta.ts'

type Schema = Record<string, unknown>

const GROUP = 'datadependency.volcano.sh'

const text: Schema = { type: 'string' }
const texts: Schema = { type: 'object', additionalProperties: text }
const listOf = (items: Schema): Schema => ({ type: 'array', items })
const objectOf = (properties: Record<string, Schema>, ...required: string[]): Schema => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
})

/** As Kubernetes' own Condition is validated. */
const conditions: Schema = listOf(
  objectOf(
    {
      lastTransitionTime: { type: 'string', format: 'date-time' },
      message: { type: 'string', maxLength: 32_768 },
      observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
      reason: { type: 'string', minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' },
      status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
      type: { type: 'string', maxLength: 316 },
    },
    'lastTransitionTime',
    'message',
    'reason',
    'status',
    'type',
  ),
)

const claimRefs: Schema = listOf({
  ...objectOf({ apiVersion: text, fieldPath: text, kind: text, name: text, namespace: text, resourceVersion: text, uid: text }),
  'x-kubernetes-map-type': 'atomic',
})

const SOURCE: Schema = objectOf({
  apiVersion: text,
  kind: text,
  metadata: { type: 'object' },
  spec: objectOf(
    {
      system: text,
      type: text,
      name: text,
      locality: objectOf({ clusterNames: listOf(text) }, 'clusterNames'),
      attributes: texts,
      reclaimPolicy: text,
    },
    'system',
    'type',
    'name',
    'locality',
  ),
  status: objectOf({ claimRefs, boundClaims: { type: 'integer', format: 'int32' }, conditions }),
})

const CLAIM: Schema = objectOf({
  apiVersion: text,
  kind: text,
  metadata: { type: 'object' },
  spec: objectOf(
    {
      system: text,
      dataSourceType: text,
      dataSourceName: text,
      workload: objectOf({ apiVersion: text, kind: text, name: text, namespace: text }, 'apiVersion', 'kind', 'name'),
      attributes: texts,
    },
    'system',
    'dataSourceType',
    'dataSourceName',
    'workload',
  ),
  status: objectOf({ phase: { type: 'string', default: 'Pending' }, boundDataSource: text, conditions }),
})

const definitionOf = (kind: string, scope: 'Cluster' | 'Namespaced', openAPIV3Schema: Schema): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.${GROUP}` },
  spec: {
    group: GROUP,
    scope,
    names: { kind, listKind: `${kind}List`, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase() },
    versions: [{ name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema }, subresources: { status: {} } }],
  },
})

export const UPSTREAM_SHAPED: readonly KubeObject[] = [
  definitionOf('DataSource', 'Cluster', SOURCE),
  definitionOf('DataSourceClaim', 'Namespaced', CLAIM),
]

/** The definitions of data dependencies in the YAML files of a folder. */
export function definitionsIn(folder: string): KubeObject[] {
  const files = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name))
  const objects = files.flatMap((name) =>
    parseAllDocuments(readFileSync(path.join(folder, name), 'utf8')).map((document) => document.toJS() as KubeObject | null),
  )
  const found = objects.filter(
    (object): object is KubeObject =>
      object?.kind === 'CustomResourceDefinition' && (object.spec as { group?: string } | undefined)?.group === GROUP,
  )
  if (found.length !== UPSTREAM_SHAPED.length)
    throw new Error(`${folder} should have the definitions of DataSource and DataSourceClaim, and has ${found.length} of ${GROUP}`)
  return found
}
