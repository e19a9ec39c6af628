import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { unreadMount } from './unread-mounts.ts'

const of = (...mountPoints: string[]) => unreadMount({ mounts: mountPoints.map((mountPoint, i) => ({ mountPoint, name: `m${i}` })) })

describe('mounts that the builtin cache cannot read', () => {
  const table: [string, RegExp][] = [
    ['oss://bucket/x', /oss:\/\/ .*: mount s3:\/\/<bucket>\/<prefix> instead, .* alluxio\.underfs\.s3\.endpoint$/],
    ['cosn://bucket/x', /mount s3:/],
    ['GS://bucket/x', /gs:\/\/ .*storage\.googleapis\.com.*HMAC/],
    ['hdfs://name:9000/x', /serve the files over HTTP or through an S3 gateway/],
    ['juicefs:///demo', /juicefs gateway.*pvc:\/\/<claim>/],
    ['nfs://server/x', /mount pvc:\/\/<claim> instead/],
    ['file:///data', /write local:\/\/ and the absolute path$/],
    ['toString://x', /tostring:\/\/ .*: mount the data another way/],
    ['/data', /a mount point without a scheme .*: mount the data another way/],
    ['dataset://data/books', /delete the runtime of this one$/],
  ]
  for (const [mountPoint, message] of table)
    it(`say what to do instead: ${mountPoint}`, () => {
      const unread = of('local:///data', mountPoint)
      assert.equal(unread?.reason, 'UnsupportedMount')
      assert.match(unread?.message ?? '', message)
      assert.doesNotMatch(unread?.message ?? '', /Runtime/, 'no engine that may not be there either')
    })

  it('are not those that it reads', () => {
    assert.equal(of('local:///a', 'pvc://claim/x', 'http://host/', 'https://host/', 's3://b', 's3a://b', 'S3N://b'), undefined)
    assert.equal(unreadMount(undefined), undefined)
  })

  it('are also those that nobody can', () => assert.equal(of('local://relative')?.reason, 'InvalidMount'))
})
