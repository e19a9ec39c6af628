import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../../client/client.ts'
import { ApiError } from '../../client/errors.ts'
import type { Lease } from '../../kinds/kubernetes/types.ts'
import { failure } from '../../kube/status.ts'
import { liveHolder } from './live-lease.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const ago = (ms: number): string => new Date(NOW_MS - ms).toISOString().replace('Z', '000Z')

const holderOf = (answer: Lease['spec'] | Error): Promise<string | undefined> => {
  const get = async (): Promise<Lease> => {
    if (answer instanceof Error) throw answer
    return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: {}, spec: answer }
  }
  return liveHolder({ get } as unknown as Client, { namespace: 'kube-system', name: 'kube-scheduler' }, NOW_MS)
}
const errorOf = (code: number, reason: string): ApiError => new ApiError(code, failure(code, reason, reason).status)

describe('a lease of somebody else', () => {
  const table: [string, Lease['spec'] | Error, string | undefined][] = [
    ['is not there', errorOf(404, 'NotFound'), undefined],
    ['is fresh', { holderIdentity: 'them', renewTime: ago(1000), leaseDurationSeconds: 15 }, 'them'],
    ['is a little late: clocks differ', { holderIdentity: 'them', renewTime: ago(29_000), leaseDurationSeconds: 15 }, 'them'],
    ['has run out', { holderIdentity: 'them', renewTime: ago(31_000), leaseDurationSeconds: 15 }, undefined],
    ['was given back', { holderIdentity: '', renewTime: ago(1000), leaseDurationSeconds: 1 }, undefined],
    ['is from a clock ahead of ours', { holderIdentity: 'them', renewTime: ago(-60_000), leaseDurationSeconds: 15 }, 'them'],
    ['does not say how long', { holderIdentity: 'them', renewTime: ago(20_000) }, 'them'],
    ['never was renewed', { holderIdentity: 'them' }, undefined],
    ['is empty', undefined, undefined],
    ['never ends', { holderIdentity: 'sluice up', renewTime: ago(10 * 365 * 86_400_000), leaseDurationSeconds: 2 ** 31 - 1 }, 'sluice up'],
  ]
  for (const [name, answer, holder] of table) it(name, async () => assert.equal(await holderOf(answer), holder))

  it('that cannot be read opens nothing', async () => {
    await assert.rejects(holderOf(errorOf(403, 'Forbidden')), /Forbidden/)
    await assert.rejects(holderOf(errorOf(500, 'InternalError')), /InternalError/)
  })
})
