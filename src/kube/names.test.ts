import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fieldErrorMessage } from './field-error.ts'
import { checkCidr, checkIp, checkLegacyCidr, checkLegacyIp, cidrWarnings, ipWarnings } from './ip.ts'
import {
  checkCIdentifier,
  checkConfigMapKey,
  checkDns1035Label,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkEnvVarName,
  checkLabelValue,
  checkPathSegmentName,
  checkPercent,
  checkPortName,
  checkPortNumber,
  checkQualifiedName,
  checkRelaxedEnvVarName,
  checkWildcardDns1123Subdomain,
} from './names.ts'

type Check = (value: string) => string[]

const GOOD: [string, Check, string[]][] = [
  ['DNS labels', checkDns1123Label, ['a', '1', 'a-b', 'a'.repeat(63)]],
  ['DNS subdomains', checkDns1123Subdomain, ['a', 'a.b', '1.2-3', `${'a'.repeat(250)}.aa`]],
  ['DNS-1035 labels', checkDns1035Label, ['a', 'a-1']],
  ['wildcards', checkWildcardDns1123Subdomain, ['*.a', '*.example.com']],
  ['qualified names', checkQualifiedName, ['a', 'A_b.c', 'x.y/Z', `${'a'.repeat(253)}/${'b'.repeat(63)}`]],
  ['label values', checkLabelValue, ['', 'a', 'A_b-c.9']],
  ['identifiers', checkCIdentifier, ['a', '_b9']],
  ['relaxed variables', checkRelaxedEnvVarName, ['a', '9 -!', '..']],
  ['config keys', checkConfigMapKey, ['a', '.a', '-_']],
  ['port names', checkPortName, ['a', '1a', 'http-2']],
  ['percentages', checkPercent, ['0%', '150%']],
  ['path segments', checkPathSegmentName, ['a:b', 'A b']],
]

const BAD: [Check, string, string[]][] = [
  [checkDns1123Label, 'a.b', ['must not contain dots']],
  [checkDns1123Label, 'a'.repeat(64), ['must be no more than 63 characters']],
  [checkDns1123Subdomain, 'a'.repeat(254), ['must be no more than 253 characters']],
  [checkQualifiedName, '/a', ['prefix part must be non-empty']],
  [checkQualifiedName, `a/${'b'.repeat(64)}`, ['name part must be no more than 63 bytes']],
  [checkLabelValue, 'x'.repeat(64), ['must be no more than 63 bytes']],
  [checkEnvVarName, '..', ["must not be '..'"]],
  [checkEnvVarName, '..a', ["must not start with '..'"]],
  [checkRelaxedEnvVarName, '', ['environment variable name must be non-empty']],
  [checkRelaxedEnvVarName, 'a=b', ["a valid environment variable name must consist only of printable ASCII characters other than '='"]],
  [checkPathSegmentName, 'a/b%', ["may not contain '/'", "may not contain '%'"]],
  [checkPathSegmentName, '..', ["may not be '..'"]],
  [
    checkPortName,
    '--',
    ['must contain at least one letter (a-z)', 'must not contain consecutive hyphens', 'must not begin or end with a hyphen'],
  ],
]

describe('names', () => {
  for (const [what, check, values] of GOOD)
    it(`accepts ${what}`, () => {
      for (const value of values) assert.deepEqual(check(value), [], value)
    })

  for (const [check, value, messages] of BAD)
    it(`refuses ${value.slice(0, 20)}: ${messages[0]}`, () => assert.deepEqual(check(value), messages))

  it('takes time in proportion to the length of a name', () => {
    assert.equal(checkDns1123Subdomain(`${'a-'.repeat(200_000)}!`).length, 2)
    assert.equal(checkQualifiedName(`${'a.'.repeat(200_000)}/${'_'.repeat(200_000)}`).length, 4)
  })

  it('knows the range of ports', () => {
    assert.deepEqual(checkPortNumber(0), ['must be between 1 and 65535, inclusive'])
    assert.deepEqual(checkPortNumber(65535), [])
  })
})

/** As k8s.io/apimachinery answers them. */
describe('addresses', () => {
  const messages = (errors: Parameters<typeof fieldErrorMessage>[0][]) => errors.map(fieldErrorMessage)
  it('accepts canonical addresses and networks', () => {
    for (const ip of ['1.2.3.4', '::', '::1', '2001:db8::1', '1:0:0:2::3']) assert.deepEqual(checkIp('p', ip), [], ip)
    for (const cidr of ['10.0.0.0/8', '0.0.0.0/0', '2001:db8::/32', '::/0']) assert.deepEqual(checkCidr('p', cidr), [], cidr)
  })

  it('refuses what is no address', () => {
    for (const ip of ['', '1.2.3', '1.2.3.256', '1::2::3', '12345::', 'fe80::1%eth0', '1.2.3.4/8', ':1', '1:'])
      assert.equal(checkLegacyIp('p', ip, false).length, 1, ip)
    for (const cidr of ['10.0.0.0', '10.0.0.0/33', '::/129', '10.0.0.0/', '/8'])
      assert.equal(checkLegacyCidr('p', cidr, false).length, 1, cidr)
  })

  it('lets old fields be sloppy', () => {
    assert.deepEqual(checkLegacyIp('p', '010.1.1.1', false), [])
    assert.deepEqual(messages(checkLegacyIp('p', '010.1.1.1', true)), ['p: Invalid value: "010.1.1.1": must not have leading 0s'])
    assert.deepEqual(messages(checkLegacyIp('p', '::ffff:1.2.3.4', true)), [
      'p: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address',
    ])
    assert.deepEqual(messages(checkLegacyCidr('p', '10.0.0.1/8', true)), [
      'p: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
    ])
    assert.deepEqual(messages(checkIp('p', '2001:DB8::1')), ['p: Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")'])
  })

  it('warns about what is better written otherwise', () => {
    assert.deepEqual(ipWarnings('p', '010.1.1.1'), ['p: non-standard IP address "010.1.1.1" is invalid: use "10.1.1.1"'])
    assert.deepEqual(ipWarnings('p', '1:0::'), ['p: IPv6 address "1:0::" should be in RFC 5952 canonical format ("1::")'])
    assert.deepEqual(cidrWarnings('p', '10.1.2.3/8'), [
      'p: CIDR value "10.1.2.3/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.1.2.3/32"?)',
    ])
  })
})
