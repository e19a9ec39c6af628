/** Garbage collection: what goes with its owner, what waits, what stays. */
import { CONFIG_MAPS } from '../../../src/kinds/kubernetes/resources.ts'
import type { ConfigMap } from '../../../src/kinds/kubernetes/types.ts'
import type { OwnerReference } from '../../../src/kube/meta.ts'
import { type Scenario, scenario, type Testbed } from '../scenario.ts'
import { gone } from './waits.ts'

const configMap = (name: string, owners: readonly ConfigMap[] = [], blocks = false): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    ownerReferences: owners.map(
      (owner): OwnerReference => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: owner.metadata.name ?? '',
        uid: owner.metadata.uid ?? '',
        blockOwnerDeletion: blocks,
      }),
    ),
  },
})

/** a owns b owns c. */
async function chain(testbed: Testbed, blocks: boolean): Promise<void> {
  const a = await testbed.create(configMap('a'))
  const b = await testbed.create(configMap('b', [a], blocks))
  await testbed.create(configMap('c', [b], blocks))
  // The collector must have seen them: it learns of deletions, and is not asked for anything before.
  await testbed.pass(2)
}

const hold = (testbed: Testbed, name: string) => testbed.patch(CONFIG_MAPS, name, { metadata: { finalizers: ['parity.test/hold'] } })
const letGo = (testbed: Testbed, name: string) => testbed.patch(CONFIG_MAPS, name, { metadata: { finalizers: null } })

const deleting = (testbed: Testbed, name: string) =>
  testbed.until(`${name} is being deleted`, async () => (await testbed.get(CONFIG_MAPS, name))?.metadata.deletionTimestamp !== undefined)

export const GARBAGE_SCENARIOS: readonly Scenario[] = [
  scenario('garbage: a chain goes with its head', async (testbed) => {
    await chain(testbed, false)
    await testbed.delete(CONFIG_MAPS, 'a', { propagationPolicy: 'Background' })
    await gone(testbed, CONFIG_MAPS, 'c')
    await testbed.noteAll('gone', CONFIG_MAPS)
  }),
  scenario('garbage: in the foreground the head waits for those that block', async (testbed) => {
    await chain(testbed, true)
    await hold(testbed, 'c')
    await testbed.delete(CONFIG_MAPS, 'a', { propagationPolicy: 'Foreground' })
    await deleting(testbed, 'c')
    await testbed.noteAll('waiting', CONFIG_MAPS)
    await letGo(testbed, 'c')
    await gone(testbed, CONFIG_MAPS, 'a')
    await testbed.noteAll('gone', CONFIG_MAPS)
  }),
  scenario('garbage: in the foreground nobody waits for those that do not block', async (testbed) => {
    await chain(testbed, false)
    await hold(testbed, 'b')
    await testbed.delete(CONFIG_MAPS, 'a', { propagationPolicy: 'Foreground' })
    await gone(testbed, CONFIG_MAPS, 'a')
    await deleting(testbed, 'b')
    await testbed.noteAll('held', CONFIG_MAPS)
    await letGo(testbed, 'b')
    await gone(testbed, CONFIG_MAPS, 'c')
    await testbed.noteAll('gone', CONFIG_MAPS)
  }),
  scenario('garbage: orphans lose their owner and stay', async (testbed) => {
    await chain(testbed, true)
    await testbed.delete(CONFIG_MAPS, 'a', { propagationPolicy: 'Orphan' })
    await gone(testbed, CONFIG_MAPS, 'a')
    await testbed.until('b is free', async () => (await testbed.get(CONFIG_MAPS, 'b'))?.metadata.ownerReferences === undefined)
    await testbed.noteAll('free', CONFIG_MAPS)
  }),
  scenario('garbage: one of two owners is enough to stay', async (testbed) => {
    const a = await testbed.create(configMap('a'))
    const b = await testbed.create(configMap('b'))
    await testbed.create(configMap('c', [a, b]))
    await testbed.pass(2)
    await testbed.delete(CONFIG_MAPS, 'a')
    await testbed.until('one owner', async () => (await testbed.get(CONFIG_MAPS, 'c'))?.metadata.ownerReferences?.length === 1)
    await testbed.noteAll('one', CONFIG_MAPS)
    await testbed.delete(CONFIG_MAPS, 'b')
    await gone(testbed, CONFIG_MAPS, 'c')
    await testbed.noteAll('none', CONFIG_MAPS)
  }),
  scenario('garbage: an owner that was never there', async (testbed) => {
    const ghost: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'ghost', uid: '00000000-0000-4000-8000-000000000000' },
    }
    await testbed.create(configMap('child', [ghost]))
    await gone(testbed, CONFIG_MAPS, 'child')
    await testbed.noteAll('gone', CONFIG_MAPS)
  }),
  scenario('garbage: an owner of another uid is not the owner', async (testbed) => {
    const a = await testbed.create(configMap('a'))
    await testbed.create(configMap('child', [{ ...a, metadata: { ...a.metadata, uid: '00000000-0000-4000-8000-000000000000' } }]))
    await gone(testbed, CONFIG_MAPS, 'child')
    await testbed.noteAll('gone', CONFIG_MAPS)
  }),
]
