import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runControllers } from '../../composition.ts'
import { World } from '../../faultsim/world/index.ts'
import { MODULES } from '../../modules.ts'
import { propagatableBy } from './run-modules.ts'

/** Paths that the caches of a hub ask for, with some modules standing back. */
async function followedWithout(...standingBack: string[]): Promise<string[]> {
  const paths: string[] = []
  const world = new World({
    controllers: (options) =>
      runControllers({
        ...options,
        standingBack,
        transportFor(part) {
          const transport = options.transportFor(part)
          if (part !== 'caches') return transport
          return {
            ...transport,
            request(request) {
              paths.push(request.path.split('?')[0] ?? '')
              return transport.request(request)
            },
          }
        },
      }),
  })
  await world.start()
  await world.settle()
  await world.stop()
  return paths
}

describe('running modules', () => {
  const CLUSTERS = '/apis/cluster.karmada.io/v1alpha1/clusters'

  it('follows members where a module needs them', async () => {
    assert.ok((await followedWithout()).includes(CLUSTERS))
  })

  it('leaves members alone when the modules that need them stand back', async () => {
    const paths = await followedWithout('fleet', 'gate')
    assert.ok(paths.includes('/api/v1/namespaces'), 'housekeeping runs')
    assert.ok(!paths.includes(CLUSTERS))
  })

  it('keeps what a module declares about its kinds, whoever runs', () => {
    const resource = { group: 'work.karmada.io', version: 'v1alpha1', plural: 'works', kind: 'Work', namespaced: true }
    assert.equal(propagatableBy(MODULES).isPropagatable(resource), false)
  })
})
