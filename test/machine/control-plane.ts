/**
 * Kubernetes' own controllers, scheduler and fake kubelet next to a bare server, with the flags the sessions were recorded
 * with: kube-controller-manager (every controller, its own service accounts), kube-scheduler, and kwok running two nodes.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { type AssetName, assetPath, assetsFolder } from './assets.ts'
import type { BareServer } from './bare-server.ts'
import { type Child, startChild } from './child.ts'
import { type CommandResult, runCommand } from './run-command.ts'

export interface ControlPlane {
  children: Child[]
  stop(): Promise<void>
}

export type Kubectl = (...args: string[]) => Promise<CommandResult>

export function kubectlOf(server: BareServer): Kubectl {
  return (...args) => runCommand(assetPath('kubectl'), ['--kubeconfig', server.kubeconfig, ...args])
}

const NODES = ['node-0', 'node-1']

/** The usual client limits (20 and 50 requests a second) only make tests wait. */
const LIMITS = ['--kube-api-qps=500', '--kube-api-burst=1000']

export async function startControlPlane(server: BareServer): Promise<ControlPlane> {
  const children: Child[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(children.map((child) => child.stop()))
  }
  const start = (name: AssetName, args: string[]): Child => {
    const child = startChild({ name, command: assetPath(name), args, log: path.join(server.folder, `${name}.log`) })
    children.push(child)
    return child
  }
  try {
    const controllers = start('kube-controller-manager', controllerFlags(server))
    start('kube-scheduler', [`--kubeconfig=${server.kubeconfig}`, '--leader-elect=false', '--secure-port=0', ...LIMITS])
    const kwok = start('kwok', kwokFlags(server))
    await makeNodes(server)
    const kubectl = kubectlOf(server)
    const succeeds = async (...args: string[]): Promise<boolean> => (await kubectl(...args)).exitCode === 0
    await controllers.waitUntil('the default service account', () => succeeds('-n', 'default', 'get', 'serviceaccount', 'default'))
    await kwok.waitUntil('two ready nodes', () => succeeds('wait', '--for=condition=Ready', 'node', '--all', '--timeout=2s'))
    for (const child of children) child.assertAlive()
  } catch (error) {
    await stop()
    throw error
  }
  return { children, stop }
}

function controllerFlags(server: BareServer): string[] {
  const pki = path.join(server.dataDir, 'pki', 'hub')
  return [
    `--kubeconfig=${server.kubeconfig}`,
    '--leader-elect=false',
    '--secure-port=0',
    '--controllers=*',
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${pki}/sa.key`,
    `--root-ca-file=${pki}/ca.crt`,
    `--cluster-signing-cert-file=${pki}/ca.crt`,
    `--cluster-signing-key-file=${pki}/ca.key`,
    ...LIMITS,
  ]
}

function kwokFlags(server: BareServer): string[] {
  return [
    `--kubeconfig=${server.kubeconfig}`,
    '--manage-all-nodes=true',
    `--config=${assetsFolder()}/kwok-stages.yaml`,
    '--node-lease-duration-seconds=40',
    '--cidr=10.244.0.0/16',
  ]
}

async function makeNodes(server: BareServer): Promise<void> {
  const file = path.join(server.folder, 'nodes.json')
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: NODES.map(node) }))
  const made = await kubectlOf(server)('apply', '--server-side', '--force-conflicts', '-f', file)
  if (made.exitCode !== 0) throw new Error(`the nodes could not be made: ${made.stderr}`)
}

function node(name: string, index: number): object {
  const size = { cpu: '8', memory: '32Gi', pods: '110' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
      labels: {
        type: 'kwok',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'topology.kubernetes.io/zone': `zone-${index}`,
      },
    },
    status: {
      capacity: size,
      allocatable: size,
      addresses: [
        { type: 'InternalIP', address: `10.1.0.${index + 1}` },
        { type: 'Hostname', address: name },
      ],
    },
  }
}
