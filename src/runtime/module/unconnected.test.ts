import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { unconnected } from './unconnected.ts'

interface Services {
  templates: { find(name: string): string; nested: { deep(): void } }
  clock: { now(): number }
}

describe('services that are not connected', () => {
  it('can be referred to, taken apart and closed over', () => {
    const services = unconnected<Services>('the services of toy')
    const { templates } = services
    const find = templates.find
    assert.equal(typeof find, 'function')
    assert.equal(services.templates, templates, 'the same reference each time')
    assert.equal(typeof (() => services.clock.now()), 'function')
  })

  it('cannot be used, and say which was', () => {
    const services = unconnected<Services>('the services of toy')
    assert.throws(
      () => services.templates.nested.deep(),
      /^Error: the services of toy\.templates\.nested\.deep is called while declarations are listed/,
    )
    assert.throws(() => ({ ...services.templates }), /the services of toy\.templates is enumerated/)
    assert.throws(() => {
      services.clock = { now: () => 1 }
    }, /the services of toy is changed/)
    assert.throws(() => 'x' in services.templates, /is enumerated/)
    assert.throws(() => `${services.clock as unknown as string}`, /is called/)
  })
})
