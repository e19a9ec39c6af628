import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { asArguments, givenFlags } from '../cli/module-flags.ts'
import { keyOfFlag, nameOfFlag } from '../runtime/module/flags.ts'
import { FlagError } from '../runtime/module/module.ts'
import { fleet } from './module.ts'
import type { FleetOptions } from './options.ts'
import { fleetChapter } from './story/chapter.ts'

const NO_FILES = { resolve: (path: string) => path, read: async () => undefined, exists: async () => false }

const optionsOf = async (texts: Record<string, string>): Promise<FleetOptions> => {
  const lists = Object.fromEntries(Object.entries(texts).map(([flag, text]) => [flag, [text]]))
  return ((await fleet.withFlags('up', lists, NO_FILES)) as typeof fleet).options
}

describe('what is set about the fleet', () => {
  it('is nothing when nothing was given, so that defaults hold', async () => {
    assert.deepEqual(await optionsOf({}), {})
  })

  it('is in the units of the controllers', async () => {
    const { clusterStatus, failover, gates } = await optionsOf({
      '--cluster-status-period': '0.5',
      '--cluster-failure-threshold': '2',
      '--cluster-success-threshold': '0',
      '--eviction-rate': '0.25',
      '--cluster-toleration': '60',
      '--eviction-purge-mode': 'Directly',
      '--graceful-eviction-timeout': '30',
      '--feature-gates': 'Failover=false',
    })
    assert.deepEqual(clusterStatus, { periodMs: 500, failureThresholdMs: 2000, successThresholdMs: 0 })
    assert.deepEqual(failover, {
      evictionsPerSecond: 0.25,
      tolerationSeconds: 60,
      purgeMode: 'Directly',
      gracefulEvictionTimeoutSeconds: 30,
    })
    assert.deepEqual([gates?.Failover, gates?.PropagateDeps], [false, true])
  })

  it('is refused in words when it is no number, or too small to mean anything', async () => {
    const wrong: Record<string, string>[] = [
      { '--eviction-rate': '0' },
      { '--cluster-status-period': '0' },
      { '--graceful-eviction-timeout': '-1' },
      { '--eviction-rate': '1e3' },
      { '--eviction-purge-mode': 'Never' },
    ]
    for (const texts of wrong)
      await assert.rejects(
        optionsOf(texts),
        (error: Error) => error instanceof FlagError && error.message.startsWith(Object.keys(texts)[0] ?? '?'),
      )
  })

  it('goes along to the background as it was written', () => {
    assert.deepEqual(
      asArguments(
        givenFlags('up', [fleet], { options: { evictionRate: '3', featureGates: 'Failover=false', port: '1' }, env: () => undefined }),
      ),
      ['--eviction-rate', '3', '--feature-gates', 'Failover=false'],
    )
  })

  it('of the story can be read', async () => {
    assert.equal((await optionsOf({ ...fleetChapter.flags })).clusterStatus?.failureThresholdMs, 2000)
    const known = fleet.flags.map(nameOfFlag)
    for (const flag of Object.keys(fleetChapter.flags ?? {})) assert.ok(known.includes(flag), flag)
    assert.equal(keyOfFlag({ flag: '--cluster-status-period <seconds>' }), 'clusterStatusPeriod')
  })
})
