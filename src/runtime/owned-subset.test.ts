import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../kube/meta.ts'
import { holdsApplied } from './owned-subset.ts'

const MANAGER = 'data.thing'

function live(fieldsV1: Record<string, unknown>, rest: Record<string, unknown>, manager = MANAGER): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: {
      name: 'a',
      namespace: 'n',
      uid: 'u',
      resourceVersion: '5',
      labels: { mine: '1', other: '2' },
      managedFields: [{ manager, operation: 'Apply', fieldsV1 }],
    },
    ...rest,
  }
}
const wanted = (rest: Record<string, unknown>, labels?: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'n', labels },
  ...rest,
})

const PORTS = { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:name': {} } }
const livePorts = [
  { port: 443, protocol: 'TCP', name: 'theirs' },
  { port: 80, protocol: 'TCP', name: 'web', targetPort: 80 },
]

/** [name, record of applied fields, live object, wanted object, answer] */
const cases: [string, KubeObject, KubeObject, boolean][] = [
  ['all values there', live({ 'f:spec': { 'f:size': {} } }, { spec: { size: 1, defaulted: true } }), wanted({ spec: { size: 1 } }), true],
  ['a value differs', live({ 'f:spec': { 'f:size': {} } }, { spec: { size: 2 } }), wanted({ spec: { size: 1 } }), false],
  ['a value is gone', live({ 'f:spec': { 'f:size': {} } }, { spec: {} }), wanted({ spec: { size: 1 } }), false],
  ['never applied by us', live({ 'f:spec': { 'f:size': {} } }, { spec: { size: 1 } }, 'somebody'), wanted({ spec: { size: 1 } }), false],
  [
    'owned by others only',
    live({ 'f:spec': { 'f:size': {} } }, { spec: { size: 1, more: 2 } }),
    wanted({ spec: { size: 1, more: 2 } }),
    false,
  ],
  [
    'something applied before is left over',
    live({ 'f:spec': { 'f:size': {}, 'f:more': {} } }, { spec: { size: 1, more: 2 } }),
    wanted({ spec: { size: 1 } }),
    false,
  ],
  ['labels of ours', live({ 'f:metadata': { 'f:labels': { 'f:mine': {} } } }, {}), wanted({}, { mine: '1' }), true],
  [
    'a label of ours left over',
    live({ 'f:metadata': { 'f:labels': { 'f:mine': {}, 'f:other': {} } } }, {}),
    wanted({}, { mine: '1' }),
    false,
  ],
  ['an empty map', live({ 'f:spec': { 'f:empty': {} } }, { spec: { empty: {} } }), wanted({ spec: { empty: {} } }), true],
  ['a whole list', live({ 'f:args': {} }, { args: ['a', 'b'] }), wanted({ args: ['a', 'b'] }), true],
  ['a whole list in another order', live({ 'f:args': {} }, { args: ['b', 'a'] }), wanted({ args: ['a', 'b'] }), false],
  ['a whole list of maps with defaults inside', live({ 'f:args': {} }, { args: [{ a: 1, d: 2 }] }), wanted({ args: [{ a: 1 }] }), true],
  [
    'items by key',
    live({ 'f:ports': PORTS }, { ports: livePorts }),
    wanted({ ports: [{ port: 80, protocol: 'TCP', name: 'web' }] }),
    false,
  ],
  [
    'items by key, one key left to its default',
    live({ 'f:ports': PORTS }, { ports: livePorts }),
    wanted({ ports: [{ port: 80, name: 'web' }] }),
    true,
  ],
  [
    'items by key, all of their fields owned',
    live(
      { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:protocol': {}, 'f:name': {} } } },
      { ports: livePorts },
    ),
    wanted({ ports: [{ port: 80, protocol: 'TCP', name: 'web' }] }),
    true,
  ],
  [
    'an item by key left over',
    live({ 'f:ports': { ...PORTS, 'k:{"port":1}': {} } }, { ports: livePorts }),
    wanted({ ports: [{ port: 80, protocol: 'TCP', name: 'web' }] }),
    false,
  ],
  ['values of a set', live({ 'f:set': { 'v:"a"': {} } }, { set: ['b', 'a'] }), wanted({ set: ['a'] }), true],
  ['a value of a set missing', live({ 'f:set': { 'v:"a"': {}, 'v:"c"': {} } }, { set: ['b', 'a'] }), wanted({ set: ['a', 'c'] }), false],
  [
    'a record that cannot be read',
    live({ 'f:set': { 'k:{broken': {}, 'q:x': {} } }, { set: ['a', 'b'] }),
    wanted({ set: ['a', 'b'] }),
    false,
  ],
  ['a map where a list is recorded', live({ 'f:set': { 'v:"a"': {} } }, { set: { a: 1 } }), wanted({ set: { a: 1 } }), false],
  [
    'names from input',
    live({ 'f:data': { 'f:__proto__': {}, 'f:constructor': {} } }, { data: {} }),
    wanted({ data: JSON.parse('{"__proto__":"x","constructor":"y"}') }),
    false,
  ],
]

describe('whether an applied configuration is there', () => {
  for (const [name, object, configuration, answer] of cases)
    it(`${name}: ${answer ? 'yes' : 'no'}`, () => assert.equal(holdsApplied(object, configuration, MANAGER), answer))
})
