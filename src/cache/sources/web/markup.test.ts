import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { decodeReferences, leavesOf, linksOf } from './markup.ts'

describe('links of a page', () => {
  it('are found however they are written', () => {
    const html = `<!DOCTYPE html><A HREF="a">x</A><a class='b' href='b&amp;c'>y</a><a href=d>z</a><a name=e>
      <a
      href = "f g" >h</a><abbr href="no"><area href="no"><!-- <a href="no"> --><script>"<a href='no'>"</script><a data-href="no" href="&#x68;&#105;">`
    assert.deepEqual(linksOf(html), ['a', 'b&c', 'd', 'f g', 'hi'])
  })

  it('are bounded', () => {
    assert.throws(() => linksOf('<a href=x>'.repeat(11), 10), /more than 10 links/)
  })

  it('are looked for in any text, in time that grows with its length alone', () => {
    const bit = fc.constantFrom('<a', ' ', 'href', '=', '"', "'", '>', '<!--', '-->', '<script', '</script', 'x', '/', '&', '&#', ';', '\n')
    fc.assert(
      fc.property(fc.array(bit, { maxLength: 60 }), (bits) => {
        assert.ok(Array.isArray(linksOf(bits.join(''))))
      }),
    )
    for (const evil of ['<a ', '<a href="', '<a x=', '<!--', '<script', '<a href=x ', "<a '", '<a / / ']) {
      assert.ok(linksOf(evil.repeat(20_000)).length <= 20_000)
    }
  })

  it('know the references that pages use, and leave others alone', () => {
    assert.equal(decodeReferences('&lt;&gt;&quot;&apos;&#39;&#x1F600;&amp;lt;'), `<>"''😀&lt;`)
    for (const text of ['&nbsp;', '&constructor;', '&#x110000;', '&', '&;', '&#;', '&#99999999;'])
      assert.equal(decodeReferences(text), text)
  })
})

describe('XML of S3', () => {
  const read = (xml: string) => [...leavesOf(xml)].map(({ path, text }) => `${path}=${text}`)

  it('is read element by element', () => {
    const xml = `<?xml version="1.0"?>\n<R xmlns="x"><A>1 &amp; 2</A><!-- no --><B/><C><D> d </D></C></R>`
    assert.deepEqual(read(xml), ['R/A=1 & 2', 'R/B=', 'R/C/D= d ', 'R/C=', 'R='])
  })

  for (const xml of [
    '<A>',
    '<A></B>',
    '</A>',
    '<A',
    '<!DOCTYPE x [<!ENTITY a "b">]><A>&a;</A>',
    '<![CDATA[x]]>',
    '<A><A><A><A><A><A><A><A><A>',
    '<1/>',
    '<!-- ',
    '<?x',
  ]) {
    it(`refuses ${xml}`, () => assert.throws(() => read(xml), /not the XML of S3/))
  }

  it('never fails in another way', () => {
    const bit = fc.constantFrom('<', '>', '/', 'A', 'B', ' ', '<A>', '</A>', '<B/>', '<!--', '-->', '<?', '?>', '&amp;', '<!')
    fc.assert(
      fc.property(fc.array(bit, { maxLength: 40 }), (bits) => {
        try {
          assert.ok(read(bits.join('')).length <= bits.length)
        } catch (error) {
          assert.match((error as Error).message, /not the XML of S3/)
        }
      }),
    )
  })
})
