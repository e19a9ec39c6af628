import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../../client/client.ts'
import { ApiError, statusOf } from '../../client/errors.ts'
import { FORBIDDEN, got, listFirst, MOST_LISTED, NONE } from '../../client/read-as-caller.ts'
import { JOBS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { BUILT, bound, claimOf, sourceOf } from './testing.ts'
import { readWorkloadInput } from './workload-input.ts'

/** A hub that answers paths from a table: a status, or an object. */
function hubOf(answers: Readonly<Record<string, number | object>>): { hub: Client; asked: string[] } {
  const asked: string[] = []
  const answerTo = (path: string): number | object => {
    asked.push(path)
    return answers[path] ?? 404
  }
  const hub = {
    async raw({ path }: { path: string }) {
      const answer = answerTo(path)
      const body = typeof answer === 'number' ? '{}' : JSON.stringify(answer)
      return { status: typeof answer === 'number' ? answer : 200, headers: {}, body: [Buffer.from(body)], cancel: () => undefined }
    },
    async get({ plural }: { plural: string }, { name }: { name: string }) {
      const answer = answerTo(`${plural}/${name}`)
      if (typeof answer === 'number') throw new ApiError(answer, statusOf(answer, ''))
      return answer
    },
  }
  return { hub: hub as unknown as Client, asked }
}

const JOBS_PATH = `/apis/batch/v1/namespaces/shop/jobs?limit=${MOST_LISTED}`
const jobs = (answer: number | object) => listFirst(hubOf({ [JOBS_PATH]: answer }).hub, JOBS, { namespace: 'shop', isMetadata: true })

describe('bounded reads', () => {
  it('says what items are, and whether there are more', async () => {
    const list = { items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'a' } }], metadata: { continue: 'x' } }
    assert.deepEqual(await jobs(list), {
      items: [{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a' } }],
      isCut: true,
      isForbidden: false,
    })
    assert.deepEqual(await jobs({ items: null, metadata: {} }), NONE)
  })

  it('takes no for an answer, and nothing else', async () => {
    assert.deepEqual(await jobs(404), NONE)
    assert.deepEqual(await jobs(403), { ...NONE, isForbidden: true })
    await assert.rejects(jobs(500), ApiError)
    const { hub } = hubOf({ 'jobs/hidden': 403, 'jobs/broken': 500 })
    assert.equal(await got(hub, JOBS, { name: 'hidden' }), FORBIDDEN)
    assert.equal(await got(hub, JOBS, { name: 'gone' }), undefined)
    await assert.rejects(got(hub, JOBS, { name: 'broken' }), ApiError)
  })
})

describe('what is read about a workload', () => {
  const CLAIMS = `/apis/datadependency.volcano.sh/v1alpha1/namespaces/shop/datasourceclaims?limit=${MOST_LISTED}`
  const CLUSTERS = `/apis/cluster.karmada.io/v1alpha1/clusters?limit=${MOST_LISTED}`
  const job = (annotations: Record<string, string> = {}, labels: Record<string, string> = {}): KubeObject => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace: 'shop', name: 'report', annotations, labels },
  })
  const others = claimOf('others', { ...BUILT, workload: { apiVersion: 'batch/v1', kind: 'Job', name: 'else' } })

  it('is one list where no claim concerns it', async () => {
    const { hub, asked } = hubOf({ [CLAIMS]: { items: [others] } })
    const { claims, missing } = await readWorkloadInput(hub, job(), undefined)
    assert.deepEqual([claims, missing, asked], [[], [], [CLAIMS]])
  })

  it('is the claims that concern it, as the gate finds them, with their sources', async () => {
    const selecting = claimOf('selecting', { system: 's', dataSourceType: 't', workloadSelector: { matchLabels: { app: 'x' } } })
    const items = [others, selecting, bound('sales', 'ds-1')]
    const { hub } = hubOf({ [CLAIMS]: { items }, 'datasources/ds-1': sourceOf('ds-1', ['east']), [CLUSTERS]: 403 })
    const input = await readWorkloadInput(hub, job({ 'sluice.dev/claims': 'others,gone' }, { app: 'x' }), undefined)
    assert.ok(input.claims !== FORBIDDEN)
    assert.deepEqual([input.claims.map(({ metadata }) => metadata.name), input.missing], [['others', 'sales', 'selecting'], ['gone']])
    assert.deepEqual([...input.sources.keys()], ['ds-1'])
    assert.equal(input.clusters, undefined)
  })

  it('asks for a claim that it names and that a long list did not reach', async () => {
    const far = { ...others, metadata: { ...others.metadata, name: 'far' } }
    const { hub } = hubOf({ [CLAIMS]: { items: [], metadata: { continue: 'x' } }, 'datasourceclaims/far': far })
    const found = await readWorkloadInput(hub, job({ 'sluice.dev/claims': 'far,gone' }), undefined)
    assert.ok(found.claims !== FORBIDDEN)
    assert.deepEqual([found.claims.map(({ metadata }) => metadata.name), found.missing, found.isCut], [['far'], ['gone'], true])
  })
})
