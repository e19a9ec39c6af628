import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CacheRuntime, Dataset } from '../../kinds/fluid/index.ts'
import { builtinClass } from '../engines/builtin/class.ts'
import { programOf } from './programs.ts'
import { aDataset } from './testing.ts'

const builtin = builtinClass({ version: '1.2.3', allowsPrivateAddresses: true })
const boundTo = (type: string): Dataset => ({ ...aDataset(), status: { conditions: [], runtimes: [{ category: 'Accelerate', type }] } })
const source = (runtimeClassName: string, translates = true) => ({
  runtimeOf: async () => ({ spec: { runtimeClassName } }) as CacheRuntime,
  classOf: async (name: string) => (name === 'builtin' ? builtin : undefined),
  translates,
})

describe('the program of an operation', () => {
  it('is the one that the class of the runtime names, in the image of its workers', async () => {
    assert.deepEqual(await programOf('DataLoad', boundTo('cache'), source('builtin')), {
      image: 'sluice.dev/sluice:1.2.3',
      command: ['sluice', 'cache', 'load'],
      args: undefined,
      imagePullSecrets: undefined,
      config: { configMap: 'fluid-runtime-config-demo', file: 'runtime.json' },
      keySecret: 'demo-cache-key',
      saysFinal: true,
      progressPort: 19_453,
      allowsPrivateAddresses: true,
    })
  })
  it('is that of the builtin cache, where that serves runtimes of other engines', async () => {
    assert.deepEqual((await programOf('DataMigrate', boundTo('juicefs'), source('')))?.command, ['sluice', 'cache', 'migrate'])
    assert.equal(await programOf('DataMigrate', boundTo('juicefs'), source('', false)), undefined)
  })
  it('is none, if nobody names one', async () => {
    assert.equal(await programOf('DataProcess', boundTo('cache'), source('builtin')), undefined)
    assert.equal(await programOf('DataLoad', boundTo('cache'), source('gone')), undefined)
    assert.equal(await programOf('DataLoad', boundTo('thin'), source('builtin')), undefined)
  })
})
