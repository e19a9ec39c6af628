/** A bucket, a mount that is added to it, and whatever a first attempt gets wrong. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { differences, randomBytes, SUM_ALL, type Sums, sumOf, sumsIn } from './contents.ts'
import { dataset, pod } from './manifests.ts'
import type { Scene } from './scene.ts'

const MEMBER = 'member2'
const OBJECTS = 40

export function bucketStories(scene: () => Scene): void {
  const sums: Sums = new Map()
  const desk = () => scene().desk
  const says = (name: string) => (): Promise<string> => desk().field(MEMBER, `dataset/${name}`, '.status.conditions[*].message')
  const fixOf = async (name: string): Promise<string> =>
    /To do: (.*)/.exec(await desk().why(MEMBER, `dataset/${name}`))?.[1] ?? 'nothing to do'

  it('bad input is said by the Dataset and by sluice why, with what to do', async () => {
    const { bucket, web } = scene()
    web.isMissing = true
    await desk().apply(
      MEMBER,
      bucket.secret('wrong-keys', 'NOBODY'),
      dataset('no-directory', [{ mountPoint: `local://${desk().person.file('later')}`, name: 'later', path: '/' }]),
      dataset('no-secret', [bucket.source('reels', {}, 'later')]),
      dataset('wrong-keys', [bucket.source('reels', {}, 'wrong-keys')]),
      dataset('no-file', [{ mountPoint: web.url, name: 'film', path: '/' }]),
    )
    const expected: [string, RegExp, RegExp][] = [
      ['no-directory', /create the directory \S+\/later on the node, or correct the local:/, /^create the directory \S+\/later/],
      ['no-secret', /create the Secret later, or correct the encryptOptions .*secret "later" not found/, /^create the Secret later/],
      [
        'wrong-keys',
        /cannot be mounted: .*S3 refuses access \(status 403\): check the credentials/,
        /^check the address of the source, its options and its Secrets/,
      ],
      ['no-file', /cannot be mounted: .*\/film was answered with status 404: check the address/, /^check the address of the source/],
    ]
    for (const [name, message, fix] of expected) {
      await desk().sees(name, says(name), message)
      assert.match(await fixOf(name), fix, name)
      assert.equal(await desk().field(MEMBER, `dataset/${name}`, '.status.phase'), 'NotBound')
    }
    const missing = await desk().person.run(
      'env',
      `KUBECONFIG=${desk().dir}/kubeconfig`,
      ...desk().person.commandOf('why', 'dataset/none', '--context', MEMBER),
    )
    assert.equal(missing.exitCode, 1)
    assert.match(missing.stderr, /there is no Dataset default\/none in this cluster: create it/)
  })

  it('a bucket is read with credentials of a Secret, every checksum right', async () => {
    const { bucket } = scene()
    for (let i = 0; i < OBJECTS; i++) {
      const content = randomBytes(i * 10_000)
      await bucket.put(`reels/part-${i % 4}/reel-${i}`, content)
      sums.set(`part-${i % 4}/reel-${i}`, sumOf(content))
    }
    await desk().apply(MEMBER, bucket.secret(), dataset('clips', [bucket.source('reels')]), pod('watch', 'clips', SUM_ALL))
    assert.deepEqual(differences(sumsIn(await desk().printed(MEMBER, 'watch')), sums), [])
    assert.equal(await desk().field(MEMBER, 'dataset/clips', '.status.fileNum'), String(OBJECTS))
  })

  it('what was wrong is mended, and the datasets are bound', async () => {
    const { bucket, web } = scene()
    web.isMissing = false
    desk().write(`${desk().directory('later')}/note`, 'here it is\n')
    await desk().apply(MEMBER, bucket.secret('later'), bucket.secret('wrong-keys'))
    await Promise.all(['no-directory', 'no-secret', 'wrong-keys', 'no-file'].map((name) => desk().bound(MEMBER, name)))
    await desk().apply(MEMBER, pod('note', 'no-directory', 'cat note'))
    assert.equal(await desk().printed(MEMBER, 'note'), 'here it is')
  })

  it('a mount is added to a bound dataset: Updating, Bound, and the next pod sees it', async () => {
    const { bucket } = scene()
    const extra = randomBytes(100_000)
    await bucket.put('extras/making-of', extra)
    const phases = desk().person.start(
      'env',
      `KUBECONFIG=${desk().dir}/kubeconfig`,
      'kubectl',
      '--context',
      MEMBER,
      'get',
      'dataset',
      'clips',
      '-w',
      '-o',
      'jsonpath={.status.phase}{"\\n"}',
    )
    await desk().sees('the phase', () => phases.said(), /^Bound\n/)
    const added = dataset('clips', [bucket.source('reels'), bucket.source('extras', { path: '/extras' })])
    await desk().apply(MEMBER, added)
    await desk().sees('the phases', () => phases.said(), /^Bound\n(Bound\n)*(Updating\n)+Bound\n/)
    phases.child.kill()
    sums.set('extras/making-of', sumOf(extra))
    await desk().sees('the files', () => desk().field(MEMBER, 'dataset/clips', '.status.mounts[*].path'), /^\/ \/extras$/)
    let found: Sums = new Map()
    for (let i = 0; differences(found, sums).length > 0; i++) {
      // The list of files is there when the source has answered; a pod that was quicker than that has the files from before.
      assert.ok(i < 5, differences(found, sums).join(', '))
      await desk().apply(MEMBER, pod(`watch-extras-${i}`, 'clips', SUM_ALL))
      found = sumsIn(await desk().printed(MEMBER, `watch-extras-${i}`))
    }
  })
}
