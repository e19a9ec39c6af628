import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Random, seededRandom } from '../base/random.ts'
import { parsed } from '../kube/parsed.ts'
import { nameOfFlag } from '../runtime/module/flags.ts'
import { DEFAULT_NODES, keptNodes, memberShape, NODE_FLAGS, type NodeSettings, settingsFrom } from './node-settings.ts'
import { POD_NETWORKS } from './shape.ts'

const random = () => seededRandom(4)
/** As `up` reads its flags: one after the other, starting from the kept settings. */
async function nodeSettings(texts: Record<string, string>, kept: NodeSettings | undefined, chance: Random): Promise<NodeSettings> {
  let settings = settingsFrom(kept, chance)
  for (const flag of NODE_FLAGS) {
    const text = texts[nameOfFlag(flag)]
    const read = text === undefined ? parsed(settings) : await flag.read(text, settings, NO_FILES)
    if (read.error !== undefined) throw new Error(read.error)
    settings = read.value
  }
  return settings
}

const NO_FILES = { resolve: (path: string) => path, read: async () => undefined, exists: async () => false }
const SIZE = { cpu: '8', memory: '32Gi', pods: 110 }

describe('the nodes of members', () => {
  it('are four simulated ones and three that run processes, unless said otherwise', async () => {
    const { network, ...settings } = await nodeSettings({}, undefined, random())
    assert.deepEqual(settings, DEFAULT_NODES)
    assert.deepEqual([settings.simulated.count, settings.process], [4, { count: 3 }])
    assert.ok(network !== undefined && network >= 0 && network < POD_NETWORKS)
  })

  it('follow the options, keep what was kept, and draw the network once', async () => {
    const kept = await nodeSettings({ '--nodes': '2', '--node-size': 'cpu=16,pods=50', '--process-nodes': '0' }, undefined, random())
    assert.deepEqual(kept.simulated, { count: 2, size: { cpu: '16', memory: '32Gi', pods: 50 } })
    const again = await nodeSettings({ '--node-size': 'memory=1Gi' }, kept, seededRandom(99))
    assert.deepEqual(again.simulated, { count: 2, size: { cpu: '16', memory: '1Gi', pods: 50 } })
    assert.deepEqual([again.process.count, again.network], [0, kept.network])
    assert.deepEqual((await nodeSettings({ '--process-node-size': 'cpu=1,memory=1Gi' }, undefined, random())).process, {
      count: 3,
      size: { cpu: '1', memory: '1Gi', pods: 110 },
    })
  })

  it('refuse what makes no sense, with the flag and what it takes', async () => {
    const wrong: [Record<string, string>, RegExp][] = [
      [{ '--nodes': '-1' }, /--nodes takes a whole number from 0 to 10000/],
      [{ '--nodes': '10001' }, /--nodes/],
      [{ '--process-nodes': '1.5' }, /--process-nodes takes a whole number from 0 to 10/],
      [{ '--node-size': 'cpus=4' }, /--node-size takes cpu=…,memory=…,pods=…; "cpus=4" is none of them/],
      [{ '--node-size': 'cpu=0' }, /cpu must be a quantity above zero/],
      [{ '--node-size': 'memory=' }, /memory must be a quantity/],
      [{ '--node-size': 'pods=1k' }, /pods must be a whole number/],
      [{ '--process-node-size': '__proto__=1' }, /--process-node-size/],
    ]
    for (const [texts, message] of wrong) await assert.rejects(nodeSettings(texts, undefined, random()), message)
  })

  it('share the machine, however many run processes in each, and lie in regions in turn', () => {
    const machine = { hardware: { cpus: 6, memoryBytes: 6 * 1024 ** 3 } }
    const shapes = [1, 2, 3, 4].map((index) => memberShape(machine, DEFAULT_NODES, { name: `m${index}`, index, members: 4 }))
    assert.deepEqual(
      shapes.map(({ region }) => region),
      ['east', 'west', 'north', 'east'],
    )
    assert.deepEqual(shapes[1]?.zones, ['west-a', 'west-b'])
    assert.deepEqual(shapes[0]?.process, { count: 3, size: { cpu: '1500m', memory: '1536Mi', pods: 110 } })
    const one = memberShape(machine, { ...DEFAULT_NODES, process: { count: 1 } }, { name: 'm', index: 1, members: 4 })
    assert.deepEqual(one.process.size, shapes[0]?.process.size)
    const tiny = memberShape({ hardware: { cpus: 1, memoryBytes: 1 } }, DEFAULT_NODES, { name: 'm', index: 1, members: 100 })
    assert.deepEqual(tiny.process.size, { cpu: '100m', memory: '64Mi', pods: 110 })
    const given = { ...DEFAULT_NODES, process: { count: 3, size: SIZE } }
    assert.deepEqual(memberShape(machine, given, { name: 'm', index: 1, members: 1 }).process, { count: 3, size: SIZE })
  })

  it('are found again as they were kept, and anything else counts as nothing kept', async () => {
    const kept = await nodeSettings({ '--process-node-size': 'cpu=1' }, undefined, random())
    assert.deepEqual(keptNodes(JSON.parse(JSON.stringify(kept))), kept)
    const before = { ...kept, process: { count: 1 } }
    assert.deepEqual(settingsFrom(keptNodes(before), random()).process, { count: 1 }, 'a directory with one process node keeps one')
    for (const value of [undefined, null, 3, {}, { simulated: { count: 1 } }, { ...kept, process: { count: -1 } }])
      assert.equal(keptNodes(value), undefined)
    assert.equal(keptNodes({ ...kept, network: 'x' })?.network, undefined)
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const found = keptNodes(value)
        if (found !== undefined) assert.ok(Number.isInteger(found.simulated.count) && typeof found.simulated.size.cpu === 'string')
      }),
    )
  })
})
