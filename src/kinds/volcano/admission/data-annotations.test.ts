import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject, ObjectMeta } from '../../../kube/meta.ts'
import { CLAIMS_ANNOTATION, PRODUCES_ANNOTATION } from '../well-known.ts'
import { dataAnnotationsAdmission } from './data-annotations.ts'
import { admitRequest, requestOf } from './testing.ts'

const JOBS = { group: 'batch', resource: 'jobs' }
const aJob = (annotations: Record<string, string>, metadata: ObjectMeta = {}): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'daily', namespace: 'work', annotations, ...metadata },
})
const refusals = async (object: KubeObject, old?: KubeObject, of = JOBS) => (await admitRequest(requestOf(of, object, old))).refused

const BAD = { [PRODUCES_ANNOTATION]: 'hive/sales', [CLAIMS_ANNOTATION]: 'sales,,' }
const MESSAGES = [
  `metadata.annotations[${PRODUCES_ANNOTATION}]: Invalid value: "hive/sales" is not of the form system/type/name: write for example hive/table/sales.daily`,
  `metadata.annotations[${CLAIMS_ANNOTATION}]: Invalid value: entry 2 is empty: name a DataSourceClaim of the same namespace there, or remove a comma`,
]

describe('annotations about data on workloads', () => {
  it('are accepted when they can be read', async () => {
    assert.deepEqual(await refusals(aJob({ [PRODUCES_ANNOTATION]: 'hive/table/a, s3/prefix/b/c', [CLAIMS_ANNOTATION]: 'x, y' })), [])
    assert.deepEqual(await refusals(aJob({})), [])
    assert.deepEqual(await refusals({ ...aJob({}), metadata: { name: 'daily' } }), [])
  })
  it('are refused when they cannot', async () => assert.deepEqual(await refusals(aJob(BAD)), MESSAGES))
  it('are judged on an update only when they change', async () => {
    assert.deepEqual(await refusals(aJob(BAD, { labels: { a: 'b' } }), aJob(BAD)), [])
    assert.deepEqual(await refusals(aJob({}), aJob(BAD)), [])
    assert.deepEqual(await refusals(aJob(BAD), aJob({ ...BAD, [CLAIMS_ANNOTATION]: 'x' })), MESSAGES.slice(1))
  })
  it('do not keep what is being deleted', async () => {
    assert.deepEqual(await refusals(aJob(BAD, { deletionTimestamp: '2025-01-01T00:00:00Z' }), aJob({})), [])
  })

  const WORKLOADS = [
    'batch/jobs',
    'batch/cronjobs',
    'apps/deployments',
    'apps/statefulsets',
    'apps/daemonsets',
    'apps/replicasets',
    'batch.volcano.sh/jobs',
    'kubeflow.org/pytorchjobs',
    'ray.io/rayjobs',
    'ray.io/rayclusters',
  ]
  it('are looked at on these kinds', () =>
    assert.deepEqual(
      dataAnnotationsAdmission.resources.map(({ group, resource }) => `${group}/${resource}`),
      WORKLOADS,
    ))
  for (const name of WORKLOADS)
    it(`are looked at on ${name}`, async () => {
      const [group = '', resource = ''] = name.split('/')
      assert.deepEqual(await refusals(aJob(BAD), undefined, { group, resource }), MESSAGES)
    })
})
