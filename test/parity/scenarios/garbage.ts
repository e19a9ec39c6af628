/** Garbage collection: what goes with its owner, what waits, what stays. */
import { CONFIG_MAPS } from '../../../src/kinds/kubernetes/resources.ts'
import type { ConfigMap } from '../../../src/kinds/kubernetes/types.ts'
import type { OwnerReference } from '../../../src/kube/meta.ts'
import { type Scenario, type Stage, scenario } from '../scenario.ts'
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
async function chain(stage: Stage, blocks: boolean): Promise<void> {
  const a = await stage.create(configMap('a'))
  const b = await stage.create(configMap('b', [a], blocks))
  await stage.create(configMap('c', [b], blocks))
  // The collector must have met them: it is told of deletions, and asked for nothing before.
  await stage.pass(2)
}

const hold = (stage: Stage, name: string) => stage.patch(CONFIG_MAPS, name, { metadata: { finalizers: ['parity.test/hold'] } })
const letGo = (stage: Stage, name: string) => stage.patch(CONFIG_MAPS, name, { metadata: { finalizers: null } })

const deleting = (stage: Stage, name: string) =>
  stage.until(`${name} is being deleted`, async () => (await stage.get(CONFIG_MAPS, name))?.metadata.deletionTimestamp !== undefined)

export const GARBAGE_SCENARIOS: readonly Scenario[] = [
  scenario('garbage: a chain goes with its head', async (stage) => {
    await chain(stage, false)
    await stage.delete(CONFIG_MAPS, 'a', { propagationPolicy: 'Background' })
    await gone(stage, CONFIG_MAPS, 'c')
    await stage.noteAll('gone', CONFIG_MAPS)
  }),
  scenario('garbage: in the foreground the head waits for those that block', async (stage) => {
    await chain(stage, true)
    await hold(stage, 'c')
    await stage.delete(CONFIG_MAPS, 'a', { propagationPolicy: 'Foreground' })
    await deleting(stage, 'c')
    await stage.noteAll('waiting', CONFIG_MAPS)
    await letGo(stage, 'c')
    await gone(stage, CONFIG_MAPS, 'a')
    await stage.noteAll('gone', CONFIG_MAPS)
  }),
  scenario('garbage: in the foreground nobody waits for those that do not block', async (stage) => {
    await chain(stage, false)
    await hold(stage, 'b')
    await stage.delete(CONFIG_MAPS, 'a', { propagationPolicy: 'Foreground' })
    await gone(stage, CONFIG_MAPS, 'a')
    await deleting(stage, 'b')
    await stage.noteAll('held', CONFIG_MAPS)
    await letGo(stage, 'b')
    await gone(stage, CONFIG_MAPS, 'c')
    await stage.noteAll('gone', CONFIG_MAPS)
  }),
  scenario('garbage: orphans lose their owner and stay', async (stage) => {
    await chain(stage, true)
    await stage.delete(CONFIG_MAPS, 'a', { propagationPolicy: 'Orphan' })
    await gone(stage, CONFIG_MAPS, 'a')
    await stage.until('b is free', async () => (await stage.get(CONFIG_MAPS, 'b'))?.metadata.ownerReferences === undefined)
    await stage.noteAll('free', CONFIG_MAPS)
  }),
  scenario('garbage: one of two owners is enough to stay', async (stage) => {
    const a = await stage.create(configMap('a'))
    const b = await stage.create(configMap('b'))
    await stage.create(configMap('c', [a, b]))
    await stage.pass(2)
    await stage.delete(CONFIG_MAPS, 'a')
    await stage.until('one owner', async () => (await stage.get(CONFIG_MAPS, 'c'))?.metadata.ownerReferences?.length === 1)
    await stage.noteAll('one', CONFIG_MAPS)
    await stage.delete(CONFIG_MAPS, 'b')
    await gone(stage, CONFIG_MAPS, 'c')
    await stage.noteAll('none', CONFIG_MAPS)
  }),
  scenario('garbage: an owner that was never there', async (stage) => {
    const ghost: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'ghost', uid: '00000000-0000-4000-8000-000000000000' },
    }
    await stage.create(configMap('child', [ghost]))
    await gone(stage, CONFIG_MAPS, 'child')
    await stage.noteAll('gone', CONFIG_MAPS)
  }),
  scenario('garbage: an owner of another uid is not the owner', async (stage) => {
    const a = await stage.create(configMap('a'))
    await stage.create(configMap('child', [{ ...a, metadata: { ...a.metadata, uid: '00000000-0000-4000-8000-000000000000' } }]))
    await gone(stage, CONFIG_MAPS, 'child')
    await stage.noteAll('gone', CONFIG_MAPS)
  }),
]
