import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../../client/client.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { matchesLabels, parseLabelSelector } from '../../kube/selector.ts'
import { podsLeft } from './pods-left.ts'
import { aConfigMap, aDeployment } from './testing.ts'

const pod = (labels: Record<string, string>, controller: string, phase = 'Running'): KubeObject => {
  const [kind = '', name = ''] = controller.split(' ')
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', labels, ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: 'u', controller: true }] },
    status: { phase },
  } as KubeObject
}

const workload = (kind: string, name: string): KubeObject => ({ ...aDeployment(name), kind })
const job: KubeObject = { apiVersion: 'batch/v1', kind: 'Job', metadata: { namespace: 'default', name: 'sum' } }

const CASES: readonly { says: string; of: KubeObject; pods: KubeObject[]; left: number }[] = [
  {
    says: 'of a Deployment, through its replica sets',
    of: aDeployment('web'),
    pods: [pod({ app: 'web' }, 'ReplicaSet web-5d8f')],
    left: 1,
  },
  { says: 'of a StatefulSet', of: workload('StatefulSet', 'web'), pods: [pod({ app: 'web' }, 'StatefulSet web')], left: 1 },
  {
    says: 'of a Job, which has no selector of its own',
    of: job,
    pods: [pod({ 'batch.kubernetes.io/job-name': 'sum' }, 'Job sum')],
    left: 1,
  },
  { says: 'none that ended', of: aDeployment('web'), pods: [pod({ app: 'web' }, 'ReplicaSet web-5d8f', 'Succeeded')], left: 0 },
  {
    says: 'none of others with the same labels',
    of: aDeployment('web'),
    pods: [pod({ app: 'web' }, 'ReplicaSet web-canary-5d8f')],
    left: 0,
  },
  { says: 'none of others with a like name', of: aDeployment('web'), pods: [pod({ app: 'shop' }, 'ReplicaSet web-5d8f')], left: 0 },
  { says: 'none of what has no pods', of: aConfigMap('web'), pods: [pod({ app: 'web' }, 'ReplicaSet web-5d8f')], left: 0 },
]

describe('pods that have not ended', () => {
  for (const { says, of, pods, left } of CASES)
    it(says, async () => {
      const member = {
        list: async (_resource: unknown, { labelSelector = '' }: { labelSelector?: string }) => {
          const selector = parseLabelSelector(labelSelector).value ?? []
          return { items: pods.filter(({ metadata }) => matchesLabels(selector, metadata.labels)) }
        },
      } as unknown as Client
      assert.equal(await podsLeft(member, [of]), left)
    })
})
