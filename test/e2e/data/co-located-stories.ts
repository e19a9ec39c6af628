/** A cache whose readers are where its workers are: it shrinks as far as nobody reads, and goes on when a reader has ended. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { bytesText } from '../../../src/cache/master/report.ts'
import { SUM_ALL, SUM_FOR_EVER, sumsIn } from './contents.ts'
import { pod, reference } from './manifests.ts'
import { inWords, OWNER, type Reels, sameFiles } from './reels.ts'
import type { Scene } from './scene.ts'

export function coLocatedStories(scene: () => Scene): void {
  const desk = () => scene().desk
  const duet = (): Reels => scene().duet

  it('readers beside every worker hold a scale-in, one of which still fills; it ends by itself when one has ended', async (t) => {
    const { name, owner, guest, node, web } = duet()
    web.hold()
    await duet().make()
    await duet().complete()
    await desk().apply(guest, reference('scenes', `${OWNER}/${name}/scenes`))
    await desk().apply(owner, pod('filling', name, SUM_ALL, { node: node(1) }))
    await desk().apply(guest, pod('reader', 'scenes', SUM_FOR_EVER, { node: node(2) }))
    sameFiles(await duet().firstSums(guest, 'reader'), duet().scenes)
    const progress = () => desk().field(owner, 'pod/filling', '.status.containerStatuses[0].state.waiting.message')
    await desk().sees('the progress', progress, / of [\d.]+ MiB, \d+ of \d+ files/)
    const full = await duet().report()
    await desk().kubectl(owner, 'scale', `cacheruntime/${name}`, '--replicas=1')
    const held = await desk().sees('the event', async () => (await duet().events('RuntimeScaleInFailed')).join('\n'), /./)
    assert.match(held, new RegExp(`on node ${node(1)} \\(pod filling\\)`))
    assert.match(held, new RegExp(`on node ${node(2)} \\(1 pod of namespace cinema\\)`))
    await desk().sees('the workers', async () => String((await duet().workers()).length), /^2$/)
    assert.match(await desk().field(owner, `cacheruntime/${name}`, '.status.conditions[?(@.type=="ScaleInHeld")].message'), /pod filling/)
    assert.match(await progress(), / of [\d.]+ MiB, \d+ of \d+ files/, 'it fills all the time')
    web.letGo()
    sameFiles(sumsIn(await desk().printed(owner, 'filling')), duet().sums)
    await desk().sees('the workers', async () => (await duet().workers()).join(' '), /^\S+$/)
    const [stays = ''] = await duet().workers()
    assert.equal(await desk().field(owner, `pod/${stays}`, '.spec.nodeName'), node(2), 'the one beside the reader stays')
    await desk().sees('no condition', () => desk().field(owner, `cacheruntime/${name}`, '.status.conditions[*].type'), /^(?!.*ScaleInHeld)/)
    const rounds = await duet().staysSame(guest, 'reader')
    const handed = await duet().handedOver()
    const after = await duet().report()
    t.diagnostic(
      `${inWords(handed)}; cached ${bytesText(full.cachedBytes)} before, ${bytesText(after.cachedBytes)} after; hit ratio ${full.cacheHitRatio} before, ${after.cacheHitRatio} after; ${rounds} readings meanwhile`,
    )
    assert.deepEqual({ dropped: handed.dropped, left: handed.left }, { dropped: 0, left: 0 })
  })
}
