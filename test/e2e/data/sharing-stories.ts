/** One cache for two namespaces: read by reference, through a sidecar, while the cache shrinks, and without consent. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { bytesText } from '../../../src/cache/master/report.ts'
import { SUM_ALL, SUM_FOR_EVER, sumsIn } from './contents.ts'
import { FILM_BYTES } from './film.ts'
import { grant, pod, READERS, sidecarJob, within } from './manifests.ts'
import { directoriesOf, fingerprint, generations } from './node-files.ts'
import { GUEST, inWords, OWNER, type Reels, sameFiles, WORKERS } from './reels.ts'
import type { Scene, SharedDataset } from './scene.ts'

export function sharingStories(scene: () => Scene): void {
  const desk = () => scene().desk
  const reels = (): Reels => scene().reels

  it('a pod of another namespace reads by reference, every checksum right, and no block is cached or fetched again', async (t) => {
    const { name, owner, guest, node, bytes } = reels()
    await reels().make()
    await reels().complete()
    await desk().apply(owner, pod('own', name, SUM_FOR_EVER, { node: node(1) }))
    sameFiles(await reels().firstSums(owner, 'own'), reels().sums)
    const before = { ...(await reels().figures()), revision: (await reels().report()).revision }
    assert.equal(before.sourceBytes, bytes, 'each byte was read once from the source')
    await desk().bound(guest, name)
    await desk().apply(guest, pod('visitor', name, SUM_FOR_EVER, { node: node(2) }))
    sameFiles(await reels().firstSums(guest, 'visitor'), reels().sums)
    assert.deepEqual({ ...(await reels().figures()), revision: (await reels().report()).revision }, before)
    assert.equal(await desk().kubectl(guest, 'get', 'pods', '-o', 'name'), 'pod/visitor', 'nothing of a cache is in its namespace')
    t.diagnostic(
      `${reels().sums.size} files, ${bytesText(bytes)}: ${bytesText(before.sourceBytes)} from the source, ${bytesText(before.usedBytes)} in the cache, before and after`,
    )
  })

  it('a pod by reference on a node that has the files starts without copying', async () => {
    const { name, owner, guest, node } = reels()
    const here = { dataDir: desk().dir, member: 'member2', node: node(1), namespace: OWNER, dataset: name }
    const [generation = '', ...more] = generations(here)
    assert.deepEqual(more, [])
    const before = { files: fingerprint(generation), figures: await reels().figures() }
    await desk().apply(guest, pod('neighbour', name, SUM_ALL, { node: node(1) }))
    sameFiles(sumsIn(await desk().printed(guest, 'neighbour')), reels().sums)
    assert.deepEqual({ files: fingerprint(generation), figures: await reels().figures() }, before)
    assert.deepEqual(generations(here), [generation])
    await reels().staysSame(owner, 'own')
  })

  it('sluice shows both together, and each who the other is', async () => {
    const { name, owner, guest } = reels()
    const table = await desk().sluice('get', 'datasets', '-A')
    for (const namespace of [OWNER, GUEST]) assert.match(table, new RegExp(`^member2 +${namespace} +${name} .* Bound `, 'm'))
    assert.match(await desk().why(guest, `dataset/${name}`), /✓ original +Dataset studio\/reels/)
    assert.match(await desk().why(owner, `dataset/${name}`), /✓ references +1 dataset refers to it\n +cinema\/reels/)
  })

  it('a Job whose pod has the client as a sidecar reads the same bytes by reference, and completes', async () => {
    const { name, guest } = reels()
    const before = await reels().figures()
    await desk().apply(guest, sidecarJob('review', name, SUM_ALL))
    await desk().until(guest, 'job/review', '.status.conditions[?(@.type=="Complete")].status', 'True')
    sameFiles(sumsIn(await desk().kubectl(guest, 'logs', 'job/review', '-c', 'reader')), reels().sums)
    assert.deepEqual(await reels().figures(), before)
    const init = await desk().field(guest, 'pods', '.items[?(@.metadata.labels.job-name=="review")].spec.initContainers[*].restartPolicy')
    assert.equal(init, 'Always')
  })

  it('the cache shrinks from three workers to one while volumes fill and others read: nothing fails, no byte differs', async (t) => {
    const { name, owner, guest, node, web } = reels()
    const old = reels().sums
    const before = await reels().report()
    await reels().replaceFilm()
    await desk().apply(owner, pod('filling', name, SUM_ALL, { node: node(3) }), sidecarJob('filling-alone', name, SUM_ALL))
    await desk().apply(guest, pod('filling', name, SUM_ALL, { node: node(3) }), sidecarJob('filling-alone', name, SUM_ALL))
    const progress = (where: typeof owner) => () => desk().field(where, 'pod/filling', '.status.containerStatuses[0].state.waiting.message')
    for (const where of [owner, guest]) await desk().sees('the progress', progress(where), / of [\d.]+ [MG]iB, \d+ of \d+ files/)
    const full = await reels().figures()
    const beganMs = performance.now()
    await desk().kubectl(owner, 'scale', `cacheruntime/${name}`, '--replicas=1')
    await desk().sees('the workers', async () => (await reels().workers()).join(' '), /^\S+$/)
    const tookMs = performance.now() - beganMs
    for (const where of [owner, guest])
      assert.match(await progress(where)(), / of [\d.]+ [MG]iB, \d+ of \d+ files/, 'it fills all the time')
    const [kept, handed] = [await reels().figures(), await reels().handedOver()]
    web.letGo()
    for (const where of [owner, guest]) {
      sameFiles(sumsIn(await desk().printed(where, 'filling')), reels().sums)
      await desk().until(where, 'job/filling-alone', '.status.conditions[?(@.type=="Complete")].status', 'True')
      sameFiles(sumsIn(await desk().kubectl(where, 'logs', 'job/filling-alone', '-c', 'reader')), reels().sums)
    }
    const rounds = (await reels().staysSame(owner, 'own')) + (await reels().staysSame(guest, 'visitor'))
    sameFiles(await reels().firstSums(owner, 'own'), old)
    sameFiles(await reels().firstSums(guest, 'visitor'), old)
    const after = await reels().report()
    t.diagnostic(
      `${WORKERS} workers to 1 in ${(tookMs / 1000).toFixed(1)} s: ${inWords(handed)}; cached ${bytesText(full.usedBytes)} before, ${bytesText(kept.usedBytes)} after; hit ratio ${before.cacheHitRatio} before, ${after.cacheHitRatio} after; ${rounds} readings meanwhile`,
    )
    assert.deepEqual({ dropped: handed.dropped, left: handed.left }, { dropped: 0, left: 0 })
    // The former film may go meanwhile: nobody reads it any more.
    assert.ok(kept.usedBytes >= full.usedBytes - FILM_BYTES, `${kept.usedBytes} of ${full.usedBytes} bytes were kept`)
  })

  it('what was handed over serves whoever comes next: the source is not read again', async () => {
    const { name, guest } = reels()
    const before = await reels().figures()
    await desk().apply(guest, sidecarJob('afterwards', name, SUM_ALL))
    await desk().until(guest, 'job/afterwards', '.status.conditions[?(@.type=="Complete")].status', 'True')
    sameFiles(sumsIn(await desk().kubectl(guest, 'logs', 'job/afterwards', '-c', 'reader')), reels().sums)
    assert.deepEqual(await reels().figures(), before)
  })

  it('a grant is withdrawn: who reads goes on, the next pod is told whom to ask; given again, it goes on', async () => {
    const { name, owner, guest, node } = reels()
    const asks = /ask whoever owns namespace studio for .*a ReferenceGrant there/
    await desk().apply(owner, ...within(OWNER, grant('may-refer', 'theatre')))
    await desk().sees('the reference', () => desk().field(guest, `dataset/${name}`, '.status.conditions[*].message'), asks)
    await desk().sees('the original', () => desk().field(owner, `dataset/${name}`, '.status.conditions[*].message'), /withdrawn|cinema/)
    await desk().apply(guest, pod('late', name, SUM_ALL), pod('forced', name, SUM_ALL, { nodeName: node(1) }))
    await desk().sees('why the pod waits', () => desk().why(guest, 'pod/late'), asks)
    await desk().sees('the mount', () => desk().field(guest, 'pod/forced', '.status.containerStatuses[0].state.waiting.message'), asks)
    await reels().staysSame(guest, 'visitor')
    await reels().staysSame(owner, 'own')
    await desk().apply(owner, ...within(OWNER, grant('may-refer', GUEST)))
    await desk().kubectl(guest, 'delete', 'pod', 'visitor', '--wait=false')
    for (const who of ['late', 'forced']) sameFiles(sumsIn(await desk().printed(guest, who)), reels().sums)
  })
}

/** What needs another start of Sluice, and the end of all of it. */
export function lastSharingStories(scene: () => Scene, parts: readonly SharedDataset[]): void {
  const desk = () => scene().desk
  const reels = (): Reels => scene().reels

  const oldForm = async (): Promise<void> => {
    const { name, guest } = reels()
    await desk().apply(guest, sidecarJob('old-form', name, SUM_ALL))
    await desk().until(guest, 'job/old-form', '.status.conditions[?(@.type=="Complete")].status', 'True')
    sameFiles(sumsIn(await desk().kubectl(guest, 'logs', 'job/old-form', '-c', 'reader')), reels().sums)
    const init = await desk().field(guest, 'pods', '.items[?(@.metadata.labels.job-name=="old-form")].spec.initContainers[*].name')
    assert.equal(init, 'init-fluid-fuse-0')
  }
  if (parts.includes('reels'))
    it('the client as an init container, as before Kubernetes 1.29: the Job reads the same bytes, and completes', oldForm)

  for (const which of parts)
    it(`nothing is left of ${which} in either namespace, and on no node`, async () => {
      const { name, owner, guest } = scene()[which]
      for (const where of [guest, owner]) {
        await desk().kubectl(where, 'delete', 'jobs', '--all', '--wait=false')
        await desk().kubectl(where, 'delete', 'pods', '-l', READERS, '--wait=false')
      }
      for (const where of [guest, owner]) await desk().kubectl(where, 'delete', 'datasets', '--all', '--wait=false')
      const kinds = 'datasets,cacheruntimes,thinruntimes,pods,persistentvolumeclaims,services,configmaps,secrets,daemonsets'
      const there = async (where: typeof owner): Promise<string> =>
        (await desk().kubectl(where, 'get', kinds, '-o', 'name')).replace('configmap/kube-root-ca.crt', '').trim()
      for (const where of [guest, owner]) await desk().sees('what is there', () => there(where), /^$/)
      await desk().sees('volumes', () => desk().kubectl(owner, 'get', 'persistentvolumes', '-o', 'name'), new RegExp(`^(?![^]*${name})`))
      await desk().sees('labels', () => desk().field(owner, 'nodes', '.items[*].metadata.labels'), new RegExp(`^(?!.*${name})`))
      await desk().sees('directories', () => directoriesOf({ dataDir: desk().dir, member: owner.member, name }).join('\n'), /^$/)
    })
}
