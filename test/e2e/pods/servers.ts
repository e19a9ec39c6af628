/** Pods that serve: a Deployment that answers on its pod addresses and passes its probes, and what happens when it does not. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import type { Pod, Probe } from '../../../src/kinds/kubernetes/types.ts'
import { aPod, containerOf, isReady, type Place, shell, until } from './place.ts'

const WEB_PORT = 18_080
const WEB_REPLICAS = 2

/** Returns its identity and start time; after a request for /break it is unhealthy. */
const SERVER = `let well = true; const life = require('node:crypto').randomUUID()
require('node:http').createServer((request, response) => {
  if (request.url === '/break') well = false
  response.statusCode = request.url === '/health' && !well ? 500 : 200
  response.end(JSON.stringify({ pod: process.env.POD_NAME, life }))
}).listen(${WEB_PORT}, process.env.POD_IP, () => console.log('listening'))`

const probe = (path: string): Probe => ({ httpGet: { path, port: WEB_PORT }, periodSeconds: 1, timeoutSeconds: 10 })
const fieldEnv = (name: string, fieldPath: string): object => ({ name, valueFrom: { fieldRef: { fieldPath } } })

export const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: WEB_REPLICAS,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        terminationGracePeriodSeconds: 5,
        containers: [
          {
            name: 'web',
            image: 'node',
            command: [process.execPath, '-e', SERVER],
            env: [fieldEnv('POD_IP', 'status.podIP'), fieldEnv('POD_NAME', 'metadata.name')],
            ports: [{ containerPort: WEB_PORT }],
            readinessProbe: probe('/'),
            livenessProbe: { ...probe('/health'), failureThreshold: 3 },
          },
        ],
      },
    },
  },
}

export interface Life {
  pod: string
  life: string
}

async function askWeb(pod: Pod, path = '/'): Promise<Life> {
  const response = await fetch(`http://${pod.status?.podIP ?? ''}:${WEB_PORT}${path}`)
  return (await response.json()) as Life
}

/** What each pod of the Deployment answers, by its name. */
export async function livesOfWeb(place: Place): Promise<Record<string, string>> {
  const lives: Record<string, string> = {}
  for (const pod of await place.pods('web')) {
    const { pod: name, life } = await askWeb(pod)
    assert.equal(name, pod.metadata.name, 'each pod answers on its own address')
    lives[name] = life
  }
  return lives
}

export function servers(place: () => Place): void {
  it('a Deployment of an HTTP server passes its probes and answers on its pod addresses; what is not alive is restarted', async () => {
    const p = place()
    await p.apply(web)
    await p.kubectl('rollout', 'status', 'deployment/web', '--timeout=120s')
    const [pod] = await p.pods('web')
    const name = pod?.metadata.name ?? ''
    const before = await livesOfWeb(p)
    assert.equal(new Set(Object.values(before)).size, WEB_REPLICAS)
    await askWeb(pod as Pod, '/break')
    const again = await p.podWhen(name, (one) => containerOf(one, 'web')?.restartCount === 1 && isReady(one))
    const after = await livesOfWeb(p)
    assert.notEqual(after[name], before[name], 'another process')
    assert.equal(Object.values(after).filter((life) => Object.values(before).includes(life)).length, WEB_REPLICAS - 1)
    assert.equal(again.status?.podIP, pod?.status?.podIP)
    const events = (await p.events(again)).map(({ reason, message }) => `${reason}: ${message}`).join('\n')
    assert.match(events, /Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 500/)
    assert.match(events, /Killing: Container web failed liveness probe, will be restarted/)
  })

  it('a readiness probe by command follows what the command says', async () => {
    const p = place()
    const readinessProbe = { exec: { command: ['test', '-e', '/state/ready'] }, periodSeconds: 1, timeoutSeconds: 10 }
    const mounted = shell('exec sleep 100000', { readinessProbe, volumeMounts: [{ name: 'state', mountPath: '/state' }] })
    await p.apply(aPod('slow', { containers: [mounted], volumes: [{ name: 'state', emptyDir: {} }] }))
    await p.podWhen('slow', (pod) => pod.status?.phase === 'Running' && containerOf(pod, 'main')?.ready === false)
    await p.kubectl('exec', 'slow', '--', 'touch', '/state/ready')
    await p.kubectl('wait', '--for=condition=Ready', 'pod/slow', '--timeout=90s')
    await p.kubectl('exec', 'slow', '--', 'rm', '/state/ready')
    await p.kubectl('wait', '--for=condition=Ready=false', 'pod/slow', '--timeout=90s')
  })

  it('a port that somebody else has is told as such', async () => {
    const p = place()
    const taken = await listening()
    try {
      const { port } = taken.address() as AddressInfo
      const serve = `require('node:http').createServer().listen(${port}, process.env.POD_IP)`
      const env = [fieldEnv('POD_IP', 'status.podIP')]
      const main = shell('', { command: [process.execPath, '-e', serve], ports: [{ containerPort: port }], env })
      await p.apply(aPod('clash', { restartPolicy: 'Never', containers: [main] }))
      const pod = await p.podWhen('clash', ({ status }) => status?.phase === 'Failed')
      const ended = containerOf(pod, 'main')?.state?.terminated
      assert.match(ended?.message ?? '', new RegExp(`port ${port} of ${pod.status?.podIP} is taken by another process`))
      assert.equal(ended?.exitCode, 1)
    } finally {
      await new Promise((resolve) => taken.close(resolve))
    }
  })
}

async function listening(): Promise<Server> {
  const server = createServer()
  server.listen(0, '0.0.0.0')
  await until(
    () => 'a server of our own',
    async () => server.listening,
  )
  return server
}
