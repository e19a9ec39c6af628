import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fusePod, type Given, messageOf, preparedBy, servedBy } from './testing.ts'

describe('the thin engine', () => {
  it('has a fuse and its configuration, and nothing that has to be ready first', () => {
    const { objects, components, ...rest } = preparedBy()
    assert.deepEqual(components, { client: { name: 'demo-fuse', replicas: 0 } })
    assert.deepEqual(
      [objects.configMaps, objects.daemonSets, objects.sets, objects.services].map((list) => list.map(({ metadata }) => metadata.name)),
      [['demo-fuse-conf'], ['demo-fuse'], [], []],
    )
    assert.deepEqual([rest.valueFile, rest.mountUfs, rest.reportSummary, rest.keySecret], ['N/A', undefined, undefined, undefined])
  })

  it('has workers where the profile or the runtime wants them', () => {
    const worker = { image: 'example.com/worker', enabled: true }
    for (const [given, replicas] of [
      [{ profile: { fuse: { image: 'nfs' }, worker } }, 1],
      [{ runtime: { worker, replicas: 3 } }, 3],
      [{ runtime: { worker: { ...worker, replicas: 2 } } }, 2],
      [{ runtime: { replicas: 0 }, profile: { fuse: { image: 'nfs' }, worker: { ...worker, replicas: 2 } } }, 0],
    ] as [Given, number][])
      assert.deepEqual(preparedBy(given).components.worker, { name: 'demo-worker', replicas })
    assert.equal(preparedBy({ runtime: { worker: { image: 'x' } } }).components.worker, undefined)
  })

  it('says that nothing is mounted where images of engines do not run, and lets no fuse run there', () => {
    assert.match(preparedBy({ translates: true }).simulated ?? '', /not run in clusters of sluice up; .* CacheRuntime .* builtin/)
    const podMetadata = { annotations: { 'sluice.dev/run': 'process' } }
    assert.equal(fusePod({ translates: true, runtime: { fuse: { podMetadata } } }).metadata.annotations?.['sluice.dev/run'], 'simulated')
    assert.equal(preparedBy().simulated, undefined)
    assert.equal(fusePod().metadata.annotations?.['sluice.dev/run'], undefined)
  })

  const exec = { exec: { command: ['true'] } }
  const cases: [string, Given, RegExp][] = [
    [
      'no profileName',
      { runtime: { profileName: '' } },
      /without profileName serves a dataset that refers to another one, .*: give it one, name a/,
    ],
    ['no such profile', { profile: 'none' }, /^there is no ThinRuntimeProfile nfs: create it, or name one/],
    [
      'no image',
      { profile: { fuse: {} } },
      /^the image of the fuse is missing: set fuse.image in the ThinRuntime or in ThinRuntimeProfile nfs$/,
    ],
    ['workers without image', { runtime: { worker: { enabled: true } } }, /^the image of the worker is missing: set worker.image/],
    [
      'postStart',
      { runtime: { fuse: { lifecycle: { postStart: exec } } } },
      /postStart configuration in the ThinRuntime is not supported: remove/,
    ],
    [
      'postStart of the profile',
      { profile: { fuse: { image: 'x', lifecycle: { postStart: exec } } } },
      /postStart configuration in ThinRuntimeProfile nfs is not supported/,
    ],
    [
      'a mount without volume',
      { runtime: { fuse: { volumeMounts: [{ name: 'v', mountPath: '/v' }] } } },
      /^failed to find the volume for volumeMount v: add it to volumes/,
    ],
    [
      'a claim',
      { dataset: { mounts: [{ mountPoint: 'pvc://data', name: 'a' }] } },
      /does not mount claims \(pvc:\/\/data\) yet: use a CacheRuntime/,
    ],
    [
      'another dataset',
      { dataset: { mounts: [{ mountPoint: 'dataset://a/b', name: 'a' }] } },
      /cannot mount dataset:\/\/: mount the sources/,
    ],
    ['no address', { dataset: { mounts: [{ mountPoint: 'https://', name: 'a' }] } }, /is no address: write for example https/],
    [
      'a directory of the node that is none',
      { dataset: { mounts: [{ mountPoint: 'nfs://a', name: 'a', options: { 'fluid.fuse.hostvolume': 'data' } }] } },
      /^invalid dataset option, fluid.fuse.hostvolume: data: it is not of the form/,
    ],
    [
      'two directories of the node at one place',
      {
        dataset: {
          mounts: ['/one:/x', '/two:/x'].map((text, i) => ({
            ...{ mountPoint: 'nfs://a', name: `a${i}` },
            options: { 'fluid.fuse.hostvolume': text },
          })),
        },
      },
      /\/two:\/x: something else is mounted at \/x already: choose another path/,
    ],
  ]
  for (const [what, given, message] of cases)
    it(`refuses ${what}, and says what to do`, () => {
      assert.match(messageOf(given) ?? '', message)
      assert.equal(servedBy(given).prepared, undefined)
    })
})
