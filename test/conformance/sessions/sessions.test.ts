import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { normaliseOutput, type Place } from './normalise-output.ts'
import { type SessionStep, words } from './session.ts'

const PLACE: Place = { namespace: 'kg-abc-1x', folder: '/tmp/kg-1', server: 'https://127.0.0.1:1234', short: 'abc1' }

const step = (cmd: string, more: Partial<SessionStep> = {}): SessionStep => ({ cmd, exitCode: 0, stdout: '', stderr: '', ...more })

describe('words of a command', () => {
  it('are split at spaces, with quotes of both kinds', () => {
    assert.deepEqual(words(`patch x -p '{"a": 1}'  --y="" z"w w"`), ['patch', 'x', '-p', '{"a": 1}', '--y=', 'zw w'])
  })
})

describe('output of kubectl', () => {
  it('keeps everything but what differs from run to run', () => {
    const output = 'error from https://127.0.0.1:1234: pod web-7c9d8f6b5d-x7k2f in kg-abc-1x at /tmp/kg-1/a.yaml, 10.244.0.3\n'
    assert.equal(normaliseOutput(output, PLACE, step('get')), 'error from <server>: pod web-<hash>-<rand> in <ns> at a.yaml, <podIP>\n')
  })

  it('of a table has no ages, no widths and no chosen node', () => {
    const output = 'NAME    NODE     AGE\nweb     node-0   3m2s   \n'
    assert.equal(normaliseOutput(output, PLACE, step('get', { table: true })), 'NAME  NODE  AGE\nweb  <node>  <age>\n')
  })

  it('is cut to the lines that the step compares', () => {
    assert.equal(normaliseOutput('b\na\n', PLACE, step('x', { sortLines: true })), 'a\nb\n')
    assert.equal(normaliseOutput('b\na\n', PLACE, step('x', { last: true })), 'a\n')
    assert.equal(normaliseOutput('b\na\n', PLACE, step('x', { firstLine: true })), 'b\n')
  })

  it('of discovery leaves out groups of our own where they are served', () => {
    const output = 'NAME  APIVERSION\npods  v1\ngrants  own.test/v1\n'
    const at = { ...PLACE, ownGroups: ['own.test'] }
    assert.equal(normaliseOutput(output, at, step('api-resources')), 'NAME  APIVERSION\npods  v1\n')
    assert.equal(normaliseOutput('pods\ngrants.own.test\n', at, step('api-resources -o name')), 'pods\n')
    assert.equal(normaliseOutput('own.test/v1\nv1\n', at, step('api-versions')), 'v1\n')
    assert.equal(normaliseOutput(output, at, step('get')), output)
    assert.equal(normaliseOutput(output, PLACE, step('api-resources')), output)
  })

  it('of version hides that our server is not the real one, and nothing else', () => {
    assert.equal(normaliseOutput('"gitVersion": "v1.36.3+sluice"', PLACE, step('version -o json')), '"gitVersion": "v1.36.3"')
    assert.equal(normaliseOutput('"gitVersion": "v1.36.3+sluice"', PLACE, step('get x')), '"gitVersion": "v1.36.3+sluice"')
  })
})
