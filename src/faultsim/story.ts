/** A story: a world, what happens in it, and at the end always the same two checks: is it quiet, and also after a restart? */
import { it } from 'node:test'
import { expectQuiet } from './expect/index.ts'
import { aWorld, type World, type WorldOptions } from './world/index.ts'

export function story(name: string, report: (world: World) => Promise<void>, options: WorldOptions = {}): void {
  it(name, async () => {
    const world = await aWorld(options).settle()
    await report(world)
    await world.settle()
    await expectQuiet(world)
    await world.stop()
  })
}
