import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { machineOf, processNodes } from '../../faultsim/builders/process-nodes.ts'
import { story } from '../../faultsim/story.ts'
import { DEPLOYMENTS, JOBS, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Deployment, Job, Pod } from '../../kinds/kubernetes/types.ts'

const programs = { serve: { port: 8080, stopMs: 500 }, work: [{ runMs: 1000, exitCode: 1 }, { runMs: 1000 }] }
const world = { members: 1, hub: false, controllers: processNodes(programs, { nodes: 2 }) }
const aTemplate = (program: string, more: object = {}, labels: object = { app: 'web' }) => {
  const env = [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }]
  const readinessProbe = program === 'serve' ? { httpGet: { port: 8080 } } : undefined
  return {
    metadata: { labels },
    spec: { containers: [{ name: 'main', image: 'img:1', command: [program], env, readinessProbe }], ...more },
  }
}

describe('workloads on process nodes', () => {
  story(
    'a Deployment becomes available, is rolled over and goes',
    async (w) => {
      const spec = { replicas: 3, selector: { matchLabels: { app: 'web' } }, template: aTemplate('serve') }
      await w.member.create({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'default', name: 'web' }, spec })
      await w.settle()
      const available = async () => ((await w.member.get(DEPLOYMENTS, 'default/web')) as Deployment).status?.availableReplicas
      assert.equal(await available(), 3)
      const pods = (await w.member.list(PODS, { namespace: 'default' })) as Pod[]
      assert.equal(new Set(pods.map(({ status }) => status?.podIP)).size, 3)
      assert.equal(new Set(pods.map(({ spec: of }) => of?.nodeName)).size, 2)
      await w.member.update(DEPLOYMENTS, 'default/web', (object) => {
        object.spec = { ...spec, template: aTemplate('serve', { terminationGracePeriodSeconds: 7 }) }
      })
      await w.settle()
      assert.equal(await available(), 3)
      assert.equal(machineOf(w.member).pods().length, 3)
      assert.equal(machineOf(w.member).specs.length, 6)
      await w.member.delete(DEPLOYMENTS, 'default/web')
      await w.settle()
      assert.deepEqual(machineOf(w.member).pods(), [])
    },
    world,
  )

  story(
    'a Job whose program fails once completes',
    async (w) => {
      const spec = { template: aTemplate('work', { restartPolicy: 'OnFailure' }, {}) }
      await w.member.create({ apiVersion: 'batch/v1', kind: 'Job', metadata: { namespace: 'default', name: 'once' }, spec })
      await w.settle()
      const { status } = (await w.member.get(JOBS, 'default/once')) as Job
      assert.equal(status?.succeeded, 1)
      assert.deepEqual(
        machineOf(w.member).specs.map(({ attempt }) => attempt),
        [0, 1],
      )
    },
    world,
  )
})
