/** `sluice controllers` against a real kube-apiserver: in place of Kubernetes' own controllers, and next to them. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Check } from '../clients/check.ts'
import { type Child, startChild } from '../machine/child.ts'
import type { Cleanup } from '../machine/interrupt.ts'
import type { Program } from '../machine/program.ts'
import type { RealServer } from '../machine/real-server.ts'
import { kubectl, LACKS_A_RIGHT, withGeneratedRights } from './generated-rights.ts'

interface Running {
  child: Child
  log(): string
}

function startControllers(server: RealServer, program: Program, name: string, ...args: string[]): Running {
  const log = path.join(server.folder, `${name}.log`)
  const all = [program.file, 'controllers', '--log-format', 'json', ...args]
  return { child: startChild({ name, command: process.execPath, args: all, log }), log: () => readFileSync(log, 'utf8') }
}

const crdOf = (group: string): string => `referencegrants.${group}`

const CLAIM_AND_USER = [
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'user' },
    spec: {
      containers: [{ name: 'c', image: 'nginx', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  },
]

/** A server without any controllers: ours do all of it. Each check builds on those before. */
export function instead(server: RealServer, program: Program, later: Cleanup): Check[] {
  let first: Running
  let second: Running
  const start = (name: string, ...args: string[]): Running => {
    const running = startControllers(server, program, name, ...args)
    later(() => running.child.stop())
    return running
  }
  return [
    {
      name: 'a definition that is there already is left as it is',
      async run() {
        const own = JSON.stringify({
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'CustomResourceDefinition',
          metadata: {
            name: crdOf('gateway.networking.k8s.io'),
            annotations: { 'api-approved.kubernetes.io': 'https://example.com', mine: 'yes' },
          },
          spec: {
            group: 'gateway.networking.k8s.io',
            scope: 'Namespaced',
            names: { plural: 'referencegrants', singular: 'referencegrant', kind: 'ReferenceGrant', listKind: 'ReferenceGrantList' },
            versions: ['v1', 'v1beta1'].map((version, i) => ({
              name: version,
              served: true,
              storage: i === 0,
              schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
            })),
          },
        })
        const file = path.join(server.folder, 'crd.json')
        writeFileSync(file, own)
        await kubectl(server, 'create', '-f', file)
        first = start('first', '--kubeconfig', await withGeneratedRights(server), '--role', 'member', '--nodes', '2')
        await first.child.waitUntil('controllers run', () => first.log().includes('"controllers run"'))
        const kept = JSON.parse(await kubectl(server, 'get', 'crd', crdOf('gateway.networking.k8s.io'), '-o', 'json')) as {
          metadata: { annotations: Record<string, string> }
        }
        assert.equal(kept.metadata.annotations.mine, 'yes')
        assert.match(first.log(), /already there and is left as it is/)
      },
    },
    {
      name: 'health, readiness and metrics answer',
      async run() {
        const [, address = ''] = /"address":"([^"]+)"/.exec(first.log()) ?? []
        await first.child.waitUntil('ready', async () => (await fetch(`${address}/readyz`)).status === 200)
        const metrics = await (await fetch(`${address}/metrics`)).text()
        assert.match(metrics, /sluice_controller_passes_total\{controller="minicluster\.housekeeping\.namespace"/)
        assert.match(metrics, /sluice_cache_staleness_seconds\{resource="pods"\}/)
      },
    },
    {
      name: 'a Deployment comes up on simulated nodes, placed by our webhook and our scheduler',
      async run() {
        await first.child.waitUntil(
          'two ready nodes',
          async () => (await server.kubectl('wait', '--for=condition=Ready', 'node', '--all', '--timeout=2s')).exitCode === 0,
        )
        await kubectl(server, 'create', 'deployment', 'web', '--image=nginx', '--replicas=3')
        await kubectl(server, 'rollout', 'status', 'deployment/web', '--timeout=60s')
        const pods = JSON.parse(await kubectl(server, 'get', 'pods', '-l', 'app=web', '-o', 'json')) as {
          items: { spec: { tolerations: { key?: string }[] }; metadata: { annotations: Record<string, string> } }[]
        }
        assert.equal(pods.items.length, 3)
        for (const pod of pods.items) {
          assert.ok(pod.spec.tolerations.some(({ key }) => key === 'sluice.dev/simulated'))
          assert.match(pod.metadata.annotations['sluice.dev/simulated-because'] ?? '', /process node/)
        }
      },
    },
    {
      name: 'it rolls, rolls back and goes with everything it owns',
      async run() {
        await kubectl(server, 'set', 'image', 'deployment/web', 'nginx=nginx:2')
        await kubectl(server, 'rollout', 'status', 'deployment/web', '--timeout=60s')
        await kubectl(server, 'rollout', 'undo', 'deployment/web')
        await kubectl(server, 'rollout', 'status', 'deployment/web', '--timeout=60s')
        await kubectl(server, 'delete', 'deployment', 'web', '--cascade=foreground', '--timeout=60s')
        assert.equal((await kubectl(server, 'get', 'rs,pods', '-l', 'app=web', '-o', 'name')).trim(), '')
      },
    },
    {
      name: 'a Job completes, a claim is provisioned, a namespace is emptied and goes',
      async run() {
        await kubectl(server, 'create', 'namespace', 'work')
        await first.child.waitUntil(
          'the default service account',
          async () => (await server.kubectl('-n', 'work', 'get', 'serviceaccount', 'default')).exitCode === 0,
        )
        await kubectl(server, '-n', 'work', 'create', 'job', 'once', '--image=busybox')
        await kubectl(server, '-n', 'work', 'wait', '--for=condition=Complete', 'job/once', '--timeout=60s')
        const file = path.join(server.folder, 'claim.json')
        writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: CLAIM_AND_USER }))
        await kubectl(server, '-n', 'work', 'create', '-f', file)
        await kubectl(server, '-n', 'work', 'wait', '--for=jsonpath={.status.phase}=Bound', 'pvc/data', '--timeout=60s')
        await kubectl(server, '-n', 'work', 'wait', '--for=condition=Ready', 'pod/user', '--timeout=60s')
        await kubectl(server, 'delete', 'namespace', 'work', '--timeout=60s')
      },
    },
    {
      name: 'a refused wish is refused by the webhook, with our sentence',
      async run() {
        const refused = await server.kubectl('run', 'odd', '--image=nginx', '--annotations=sluice.dev/run=maybe')
        assert.equal(refused.exitCode, 1)
        assert.match(refused.stderr, /must be simulated or process/)
      },
    },
    {
      name: 'the generated rights were enough for all of this',
      async run() {
        assert.doesNotMatch(first.log(), LACKS_A_RIGHT)
      },
    },
    {
      name: 'a second process waits, and takes over when the first is told to stop',
      async run() {
        second = start('second', '--kubeconfig', server.kubeconfig, '--role', 'member', '--nodes', '2')
        await second.child.waitUntil('it waits', () => second.log().includes('another process leads'))
        await first.child.stop()
        assert.doesNotMatch(first.log(), /Error/, 'the first one ended without a word of complaint')
        await second.child.waitUntil('it leads', () => second.log().includes('"controllers run"'))
        await kubectl(server, 'create', 'deployment', 'later', '--image=nginx', '--replicas=1')
        await kubectl(server, 'rollout', 'status', 'deployment/later', '--timeout=60s')
        await second.child.stop()
        const left = await kubectl(server, 'get', 'mutatingwebhookconfigurations', '-o', 'jsonpath={.items[*].webhooks[*].failurePolicy}')
        assert.deepEqual(
          [...new Set(left.trim().split(' '))],
          ['Fail'],
          'webhooks that fail open are taken back, those that fail closed stay',
        )
      },
    },
  ]
}

/** Where kube-controller-manager and kube-scheduler run, ours leave their work to them. */
export function besideTheOriginals(server: RealServer, program: Program, later: Cleanup): Check[] {
  return [
    {
      name: 'modules whose work is done already stand back',
      async run() {
        const running = startControllers(server, program, 'beside', '--kubeconfig', server.kubeconfig, '--role', 'member')
        later(() => running.child.stop())
        await running.child.waitUntil('controllers run', () => running.log().includes('"controllers run"'))
        assert.match(running.log(), /"module":"housekeeping"/)
        assert.match(running.log(), /"module":"minicluster"/)
        await kubectl(server, 'create', 'deployment', 'web', '--image=nginx', '--replicas=2')
        await kubectl(server, 'rollout', 'status', 'deployment/web', '--timeout=60s')
        const pods = await kubectl(server, 'get', 'pods', '-l', 'app=web', '-o', 'json')
        assert.doesNotMatch(pods, /sluice\.dev/)
        await running.child.stop()
      },
    },
  ]
}
