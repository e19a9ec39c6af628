import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../../client/client.ts'
import { createMemberKinds } from './member-kinds.ts'

/** A member that serves these kinds; counts how often it is asked. */
function aMember(served: Record<string, { name: string; kind: string; namespaced: boolean }[]>, status = 200) {
  const asked: string[] = []
  const client = {
    async raw({ path }: { path: string }) {
      asked.push(path)
      const found = served[path]
      const text = JSON.stringify(found === undefined ? { kind: 'Status', message: 'no' } : { kind: 'APIResourceList', resources: found })
      const code = found === undefined ? (status === 200 ? 404 : status) : 200
      return { status: code, headers: {}, body: chunks(text), cancel: () => undefined }
    },
  } as unknown as Client
  return { client, asked }
}

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

const APPS = '/apis/apps/v1'
const deployments = [
  { name: 'deployments', kind: 'Deployment', namespaced: true },
  { name: 'deployments/scale', kind: 'Scale', namespaced: true },
]
const ask = { cluster: 'm', apiVersion: 'apps/v1', kind: 'Deployment', apiEnablements: undefined, nowMs: 0 }

describe('kinds of a member', () => {
  it('are asked for once per group and version, without subresources', async () => {
    const { client, asked } = aMember({ [APPS]: deployments })
    const kinds = createMemberKinds()
    const found = await kinds.find({ ...ask, client })
    assert.deepEqual(found, { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true })
    assert.equal(await kinds.find({ ...ask, client }), found)
    assert.equal(await kinds.find({ ...ask, client, kind: 'Scale' }), undefined)
    assert.deepEqual(asked, [APPS])
  })

  it('that are missing are asked for again when the Cluster says something new about them, or after a while', async () => {
    const served: Parameters<typeof aMember>[0] = {}
    const { client, asked } = aMember(served)
    const kinds = createMemberKinds()
    assert.equal(await kinds.find({ ...ask, client }), undefined)
    served[APPS] = deployments
    assert.equal(await kinds.find({ ...ask, client, nowMs: 1000 }), undefined, 'nobody said anything')
    const others = [{ groupVersion: 'batch/v1', resources: [] }]
    assert.equal(await kinds.find({ ...ask, client, nowMs: 1000, apiEnablements: others }), undefined, 'that is about others')
    const changed = [{ groupVersion: 'apps/v1', resources: [{ name: 'deployments', kind: 'Deployment' }] }]
    assert.equal((await kinds.find({ ...ask, client, nowMs: 1000, apiEnablements: changed }))?.plural, 'deployments')
    assert.equal(await kinds.find({ ...ask, client, nowMs: 1000, apiVersion: 'x.io/v1' }), undefined)
    assert.equal(await kinds.find({ ...ask, client, nowMs: 31_000, apiVersion: 'x.io/v1' }), undefined)
    assert.deepEqual(asked, [APPS, APPS, '/apis/x.io/v1', '/apis/x.io/v1'])
    await kinds.find({ ...ask, client, nowMs: 500, apiVersion: 'x.io/v1' })
    assert.equal(asked.length, 5, 'a clock that was set back is no reason to wait')
  })

  it('of a member that is reached in another way are asked for anew', async () => {
    const { client, asked } = aMember({ '/api/v1': [{ name: 'pods', kind: 'Pod', namespaced: true }] })
    const kinds = createMemberKinds()
    await kinds.find({ ...ask, client, apiVersion: 'v1', kind: 'Pod' })
    kinds.forget('m')
    await kinds.find({ ...ask, client, apiVersion: 'v1', kind: 'Pod' })
    assert.deepEqual(asked, ['/api/v1', '/api/v1'])
  })

  it('of a member that is busy are not known to be missing', async () => {
    const { client } = aMember({}, 503)
    await assert.rejects(() => createMemberKinds().find({ ...ask, client }))
  })
})
