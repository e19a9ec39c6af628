/**
 * Objects that a kube-apiserver v1.36.3 refused, with its causes in its order: one line of refusals.jsonl each. They reach
 * the corners that the transcripts do not: every volume source, handler, selector and number of a pod spec.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deepClone, type Json } from '../../../../base/json.ts'
import { fieldErrorMessage } from '../../../../kube/field-error.ts'
import type { RuleContext } from '../../../kind.ts'
import { decodeTyped } from '../../decode-json.ts'
import { workloadRules } from './index.ts'
import text from './refusals.jsonl'

const KINDS: Readonly<Record<string, readonly [group: string, kind: string]>> = {
  pods: ['', 'Pod'],
  replicationcontrollers: ['', 'ReplicationController'],
  deployments: ['apps', 'Deployment'],
  replicasets: ['apps', 'ReplicaSet'],
  statefulsets: ['apps', 'StatefulSet'],
  daemonsets: ['apps', 'DaemonSet'],
  jobs: ['batch', 'Job'],
  cronjobs: ['batch', 'CronJob'],
}

interface Refusal {
  resource: string
  spec: Json
  causes: string[]
}

const context: RuleContext = { operation: 'create', subresource: '', now: '2026-01-02T03:04:05Z', user: { name: 'admin', groups: [] } }
const UID = '11111111-2222-4333-8444-555555555555'
const anyUid = (message: string): string => message.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, UID)

function causesOf({ resource, spec }: Refusal): string[] {
  const [group, kind] = KINDS[resource] ?? ['', '']
  const rules = workloadRules[`${group}/${kind}`]
  assert.ok(rules, resource)
  const { object } = decodeTyped({ group, version: 'v1', kind }, { metadata: { name: 'x' }, spec: deepClone(spec) })
  rules.applyDefaults?.(object, 'v1')
  object.metadata = { ...object.metadata, namespace: 'default', uid: UID }
  rules.prepareForCreate?.(object, context)
  return (rules.validateCreate?.(object, context) ?? []).map(fieldErrorMessage)
}

describe('refusals of a real server', () => {
  const refusals = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Refusal)

  for (const resource of Object.keys(KINDS)) {
    it(`of ${resource} come out word for word`, () => {
      const mine = refusals.filter((refusal) => refusal.resource === resource)
      assert.ok(mine.length > 0)
      for (const refusal of mine) assert.deepEqual(causesOf(refusal).map(anyUid), refusal.causes.map(anyUid), JSON.stringify(refusal.spec))
    })
  }
})
