import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { World } from '../../faultsim/world/index.ts'
import { RESOURCE_INTERPRETER_CUSTOMIZATIONS } from '../../kinds/karmada/resources.ts'
import { CONFIG_MAPS } from '../../kinds/kubernetes/resources.ts'
import { defineController, NOTHING_TO_DO } from '../../runtime/controller.ts'
import { runAll } from '../../runtime/run-all.ts'
import { followCustomizations } from './follow.ts'
import { createInterpreter } from './index.ts'
import { nativeLayer } from './native/index.ts'

const KIND = { apiVersion: 'example.com/v1', kind: 'Boat' }
const customization = (name: string) => ({
  apiVersion: 'config.karmada.io/v1alpha1',
  kind: 'ResourceInterpreterCustomization',
  metadata: { name },
  spec: {
    target: KIND,
    customizations: { healthInterpretation: { luaScript: 'function InterpretHealth(o) return true end' } },
  },
})

describe("an interpreter that follows the hub's rules", () => {
  it('no pass begins before the rules that are there are in use, and later ones count at once', async () => {
    const had: boolean[] = []
    const anew = () => createInterpreter({ now: () => 0, native: nativeLayer() })
    let interpreter = anew()
    const has = (): boolean => interpreter.has(KIND, 'InterpretHealth')
    const curious = defineController({
      name: 'test.curious',
      for: CONFIG_MAPS,
      writes: [],
      observe: () => void had.push(has()),
      plan: () => NOTHING_TO_DO,
    })
    const world = new World({
      controllers: (options) =>
        runAll(options, ({ caches }) => {
          // Like a new process: it knows nothing of what the previous one knew.
          interpreter = anew()
          return { controllers: [curious], ready: followCustomizations(caches, interpreter) }
        }),
    })
    await world.start()
    await world.hub.create(customization('boats'))
    await world.hub.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } })
    await world.settle()
    had.length = 0
    world.hub.interference = {
      onRequest: ({ request }) => (request.path.includes('resourceinterpretercustomizations') ? { do: 'delay', ms: 2000 } : undefined),
    }
    await world.restartControllers()
    await world.settle()
    assert.ok(had.length > 0)
    assert.ok(had.every(Boolean), 'every pass after the start knew the rule')
    await world.hub.delete(RESOURCE_INTERPRETER_CUSTOMIZATIONS, 'boats')
    await world.settle()
    assert.equal(has(), false)
    await world.stop()
  })
})
