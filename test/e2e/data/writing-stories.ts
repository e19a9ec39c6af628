/** Writes, a file that changes while a volume fills, and a dataset that the hub sends to members. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { randomBytes, SUM_ALL, sumOf, sumsIn } from './contents.ts'
import { FILM_BYTES } from './film.ts'
import { claim, dataset, pod, runtime } from './manifests.ts'
import type { Scene } from './scene.ts'

const MEMBER = 'member3'

export function writingStories(scene: () => Scene): void {
  const desk = () => scene().desk

  it('what a pod writes to a directory or a claim is seen by another pod', async () => {
    const directory = desk().directory('written')
    const writable = { accessModes: ['ReadWriteMany'] }
    await desk().apply(
      MEMBER,
      claim('shelf'),
      dataset('diary', [{ mountPoint: `local://${directory}`, name: 'diary', path: '/' }], writable),
      dataset('ledger', [{ mountPoint: 'pvc://shelf', name: 'ledger', path: '/' }], writable),
      pod('write-diary', 'diary', 'echo monday > day && cat day'),
      pod('write-ledger', 'ledger', 'echo 42 > sum && cat sum'),
    )
    await desk().printed(MEMBER, 'write-diary')
    await desk().printed(MEMBER, 'write-ledger')
    await desk().apply(MEMBER, pod('read-diary', 'diary', 'cat day'), pod('read-ledger', 'ledger', 'cat sum'))
    assert.equal(await desk().printed(MEMBER, 'read-diary'), 'monday')
    assert.equal(await desk().printed(MEMBER, 'read-ledger'), '42')
    assert.equal(readFileSync(`${directory}/day`, 'utf8'), 'monday\n')
  })

  it('a pod that would write to a bucket says that this waits for FUSE, and how to read it', async () => {
    const { bucket } = scene()
    const note = randomBytes(1000)
    await bucket.put('notes/one', note)
    await desk().apply(
      MEMBER,
      bucket.secret(),
      dataset('notes', [bucket.source('notes')], { accessModes: ['ReadWriteMany'] }),
      pod('writer', 'notes', 'echo x > two'),
    )
    const says = /writing to s3:\/\/ needs FUSE, which is not there yet: .*To read, set readOnly: true/
    await desk().sees('the writer', () => desk().field(MEMBER, 'pod/writer', '.status.containerStatuses[0].state.waiting.message'), says)
    assert.match(
      await desk().why(MEMBER, 'pod/writer'),
      /To do: To read, set readOnly: true on the pod's persistentVolumeClaim volume, or accessModes: \[ReadOnlyMany\] on the dataset/,
    )
    await desk().apply(MEMBER, pod('reader', 'notes', SUM_ALL, { readOnly: true }))
    assert.deepEqual([...sumsIn(await desk().printed(MEMBER, 'reader'))], [['one', sumOf(note)]])
    await desk().kubectl(MEMBER, 'delete', 'pod', 'writer', '--wait=false')
  })

  it('a policy carries a dataset and a reference to members: sluice get shows all, the hub their sum, sluice why both', async () => {
    const name = 'everywhere'
    const selected = (apiVersion: string, kind: string) => ({ apiVersion, kind, labelSelector: { matchLabels: { app: name } } })
    const policy: KubeObject = {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: { name },
      spec: {
        resourceSelectors: ['Dataset', 'CacheRuntime'].map((kind) => selected('data.fluid.io/v1alpha1', kind)),
        placement: { clusterAffinity: { clusterNames: ['member2', MEMBER] } },
      },
    }
    const mounts = [{ mountPoint: `local://${desk().directory('shared')}`, name, path: '/' }]
    desk().write(desk().person.file('shared', 'word'), 'everywhere\n')
    const reference = dataset('borrowed', [{ mountPoint: `dataset://default/${name}`, name: 'borrowed' }], { quota: '' })
    reference.metadata.labels = { app: name }
    await desk().apply(
      'hub',
      ...[dataset(name, mounts, { quota: '' }), runtime(name, { replicas: 1, quota: '64Mi', isMemory: true }), policy, reference],
    )
    await desk().sees(
      'the dataset on the hub',
      () => desk().kubectl('hub', 'get', 'dataset', name),
      /^everywhere +11\.00B +\S+ +128\.00MiB .* Bound /m,
    )
    await desk().sees(
      'the reference on the hub',
      () => desk().kubectl('hub', 'get', 'dataset', 'borrowed'),
      /^borrowed +11\.00B .* Bound /m,
    )
    const table = await desk().sluice('get', 'datasets', '-A')
    for (const member of ['member2', MEMBER]) {
      assert.match(table, new RegExp(`^${member} +default +${name} +11\\.00B .* Bound .* Y$`, 'm'))
      assert.match(table, new RegExp(`^${member} +default +borrowed +default/${name} +11\\.00B .* Bound .* Y$`, 'm'))
    }
    const ofOne = await desk().sluice('get', 'dataset/borrowed', '-o', 'wide', '--context', MEMBER)
    assert.match(ofOne, new RegExp(`^${MEMBER} +borrowed +default/${name} .* Y$`, 'm'))
    await desk().apply(MEMBER, pod('borrower', 'borrowed', 'cat word'))
    assert.equal(await desk().printed(MEMBER, 'borrower'), 'everywhere')
    const onHub = /it is applied and healthy in member2, member3/
    assert.match(
      await desk().sees('why on the hub', () => desk().why('hub', `dataset/${name}`), onHub),
      /✓ data +Bound in member2: [^\n]*1 reference\n +sluice why dataset\/everywhere -n default --context member2/,
    )
    await desk().sees('why it is bound', () => desk().why(MEMBER, `dataset/${name}`), /✓ it is Bound: pods of namespace default mount it/)
  })

  it('a file that changes while a volume fills is never mixed; a bar shows how far it is', async () => {
    const { web } = scene()
    web.hold()
    const master = { options: { metadataSyncInterval: '1s' } }
    await desk().apply(
      MEMBER,
      dataset('film', [{ mountPoint: web.url, name: 'film', path: '/' }], { quota: '' }),
      runtime('film', { replicas: 1, quota: '64Mi', isMemory: true }, master),
      pod('viewer', 'film', SUM_ALL),
    )
    await desk().sees(
      'the viewer',
      () => desk().field(MEMBER, 'pod/viewer', '.status.containerStatuses[0].state.waiting.message'),
      /4\.0 of 12\.0 MiB, 0 of 1 files/,
    )
    assert.match(await desk().why(MEMBER, 'pod/viewer'), /█{6}░{14} 33%/)
    assert.match(await desk().why(MEMBER, 'dataset/film'), /█{6}░{14} 33% viewer/)
    const next = randomBytes(FILM_BYTES)
    web.change(next)
    // One more block of the old file arrives, and the last one is not to be had any more.
    web.letGo()
    assert.deepEqual([...sumsIn(await desk().printed(MEMBER, 'viewer'))], [['film', sumOf(next)]])
  })
}
