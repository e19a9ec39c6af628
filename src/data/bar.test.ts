import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bar, barIn } from './bar.ts'

describe('a bar', () => {
  it('is full when everything is there, and not before', () => {
    assert.equal(bar(0), '░'.repeat(20))
    assert.equal(bar(99.9), `${'█'.repeat(19)}░`)
    assert.equal(bar(100), '█'.repeat(20))
    assert.deepEqual([bar(-5), bar(1000), bar(Number.NaN)], [bar(0), bar(100), ''.padEnd(20, '░')])
  })

  it('is made of what a pod says', () => {
    assert.equal(barIn('waiting for volume "data": 1.2 of 2.0 GiB, 12 of 100 files'), `${bar(60)} 60%`)
    assert.equal(barIn('0 of 0 B, 0 of 0 files'), `${bar(100)} 100%`)
    assert.equal(barIn('1 of 3 nodes'), undefined)
    assert.equal(barIn(''), undefined)
  })
})
