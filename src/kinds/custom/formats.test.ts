import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatCheckOf, isKnownFormat, keptFormat } from './formats.ts'

const CASES: Record<string, { good: string[]; bad: string[] }> = {
  'date-time': {
    good: ['2024-01-01T00:00:00Z', '2024-02-29t23:59:59.5+01:00'],
    bad: ['2024', '2023-02-29T00:00:00Z', '2024-01-01T24:00:00Z', '2024-01-01 00:00:00'],
  },
  date: { good: ['2024-12-31'], bad: ['2024-13-01', '2024-1-1', ''] },
  duration: { good: ['1h30m', '-1.5s', '0', '22 ns', '2 hours', '3 weeks'], bad: ['xyz', '', '5'] },
  byte: { good: ['aGk=', 'aGk0'], bad: ['***', 'aGk', ''] },
  ipv4: { good: ['1.2.3.4', '010.0.0.1', '::ffff:1.2.3.4'], bad: ['x', '1.2.3', '256.1.1.1', '::1'] },
  ipv6: { good: ['::1', '2001:db8::8a2e:370:7334', '::ffff:1.2.3.4'], bad: ['1.2.3.4', ':::1', '1::2::3', '12345::'] },
  cidr: { good: ['10.0.0.0/8', 'fd00::/64'], bad: ['10.0.0.0', '10.0.0.0/33', 'fd00::/129'] },
  mac: { good: ['01:23:45:67:89:ab', '0123.4567.89ab', '01-23-45-67-89-ab-cd-ef'], bad: ['01:23:45:67:89', '01:23-45:67:89:ab'] },
  hostname: { good: ['example.com', 'localhost', 'a-b.example.org'], bad: ['-a.com', 'a..b', 'a.b1'] },
  email: { good: ['a@b.c', 'Al <a@b.c>'], bad: ['a', '@b', 'a@', 'a b@c.d'] },
  uri: { good: ['https://a.b/c?d', '/path', 'mailto:a@b'], bad: ['', 'a b', 'http://a b', '%zz/'] },
  uuid: { good: ['A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'a0eebc999c0b4ef8bb6d6bb9bd380a11'], bad: ['a0eebc99'] },
  uuid4: { good: ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'], bad: ['a0eebc99-9c0b-1ef8-bb6d-6bb9bd380a11'] },
  isbn: { good: ['0321751043', '978-0321751041'], bad: ['0321751044', '9780321751042'] },
  creditcard: { good: ['4111 1111 1111 1111'], bad: ['4111 1111 1111 1112'] },
  hexcolor: { good: ['#fff', 'A0B1C2'], bad: ['#ffff'] },
  rgbcolor: { good: ['rgb(1, 2,255)'], bad: ['rgb(1,2)', 'rgb(1,2,256)'] },
  ssn: { good: ['123-45-6789'], bad: ['123456789'] },
  'k8s-short-name': { good: ['a-1'], bad: ['A', 'a-', 'a'.repeat(64)] },
  'k8s-long-name': { good: ['a.b-1'], bad: ['a..b', 'a.B'] },
}

describe('formats of custom resources', () => {
  for (const [format, { good, bad }] of Object.entries(CASES))
    it(format, () => {
      const check = formatCheckOf(format)
      assert.ok(check)
      for (const text of good) assert.equal(check(text), true, text)
      for (const text of bad) assert.equal(check(text), false, text)
    })

  it('keeps a format only where its type knows it', () => {
    assert.equal(keptFormat('int32', ['integer'], false), 'int32')
    assert.equal(keptFormat('int32', ['string'], false), '')
    assert.equal(keptFormat('date-time', ['integer', 'string'], false), 'date-time')
    assert.equal(isKnownFormat('bogus', 'integer'), false)
  })
})
