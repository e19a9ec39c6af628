import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenFlags } from '../cli/module-flags.ts'
import { FlagError } from '../runtime/module/module.ts'
import { data } from './module.ts'

const NO_FILES = { resolve: (path: string) => path, read: async () => undefined, exists: async () => false }

/** As a command does: what its flags say, and what the environment says beside them. */
async function sidecarMode(options: Record<string, string>, variables: Record<string, string>): Promise<unknown> {
  const texts = givenFlags('up', [data], { options, env: (name) => variables[name] })
  return ((await data.withFlags('up', texts, NO_FILES)) as typeof data).options.sidecarMode
}

describe('the form of sidecars', () => {
  const fluids = (mode: string) => ({ FUSE_SIDECAR_INJECTION_MODE: mode })

  it("is what the flag says, else what Fluid's variable says", async () => {
    assert.equal(await sidecarMode({}, fluids('sidecar')), 'container')
    assert.equal(await sidecarMode({}, fluids('native-sidecar')), 'native-sidecar')
    assert.equal(await sidecarMode({ datasetSidecar: 'native-sidecar' }, fluids('sidecar')), 'native-sidecar')
    assert.equal(await sidecarMode({ datasetSidecar: 'container' }, {}), 'container')
    assert.equal(await sidecarMode({}, {}), await sidecarMode({}, fluids('')), 'an empty variable says nothing')
  })

  it('is refused with both names where it is no form', async () => {
    const isClear = (error: Error): boolean =>
      error instanceof FlagError && /^--dataset-sidecar \(or FUSE_SIDECAR_INJECTION_MODE\) takes .*, not "pod"$/.test(error.message)
    await assert.rejects(sidecarMode({}, fluids('pod')), isClear)
  })
})
