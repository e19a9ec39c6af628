import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Fields } from '../fields.ts'
import { podQosClass } from './qos.ts'

const podOf = (...resources: Fields[]): Fields => ({ containers: resources.map((r, i) => ({ name: `c${i}`, resources: r })) })
const full = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } }

describe('quality of service', () => {
  const table: [name: string, spec: Fields, expected: string][] = [
    ['nothing asked', podOf({}), 'BestEffort'],
    ['zero is nothing', podOf({ requests: { cpu: '0' } }), 'BestEffort'],
    ['other resources do not count', podOf({ limits: { 'example.com/gpu': '1' }, requests: { 'example.com/gpu': '1' } }), 'BestEffort'],
    ['all limited as requested', podOf(full, full), 'Guaranteed'],
    ['one container without limits', podOf(full, {}), 'Burstable'],
    ['requests below limits', podOf({ limits: full.limits, requests: { cpu: '500m', memory: '1Gi' } }), 'Burstable'],
    ['an init container without limits', { ...podOf(full), initContainers: [{ name: 'i', resources: {} }] }, 'Burstable'],
    ['the pod as a whole', { ...podOf({}), resources: full }, 'Guaranteed'],
    ['the pod as a whole, cpu alone', { ...podOf({}), resources: { limits: { cpu: '1' }, requests: { cpu: '1' } } }, 'Burstable'],
  ]
  for (const [name, spec, expected] of table) it(`${name}: ${expected}`, () => assert.equal(podQosClass(spec), expected))
})
