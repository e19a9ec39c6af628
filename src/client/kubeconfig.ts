/**
 * Kubeconfig files: contexts, clusters and users to one connection. Pure over an injected way to read files and run
 * credential plug-ins, so that it can be tested without either.
 */
import { parse as parseYaml } from 'yaml'
import type { TlsConnection } from './transport/undici.ts'

export interface KubeconfigHost {
  /** Throws when the file cannot be read. */
  readFile(path: string): string
  /** Resolves `path` against the directory of `file`. */
  resolvePath(file: string, path: string): string
  env(name: string): string | undefined
  /** Runs a credential plug-in with arguments (never through a shell) and returns what it printed. */
  runPlugin(command: string, args: readonly string[], env: Record<string, string>): Promise<string>
  nowMs(): number
}

interface NamedEntry<T> {
  name: string
  value: T
}

interface ClusterEntry {
  server?: string
  'certificate-authority'?: string
  'certificate-authority-data'?: string
  'insecure-skip-tls-verify'?: boolean
  'tls-server-name'?: string
}

interface ExecPlugin {
  apiVersion?: string
  command?: string
  args?: string[]
  env?: { name: string; value: string }[]
}

interface UserEntry {
  token?: string
  tokenFile?: string
  'client-certificate'?: string
  'client-certificate-data'?: string
  'client-key'?: string
  'client-key-data'?: string
  exec?: ExecPlugin
}

interface ContextEntry {
  cluster?: string
  user?: string
  namespace?: string
}

export interface Kubeconfig {
  file: string
  currentContext: string
  clusters: NamedEntry<ClusterEntry>[]
  users: NamedEntry<UserEntry>[]
  contexts: NamedEntry<ContextEntry>[]
}

export interface Connection extends TlsConnection {
  context: string
  namespace: string
}

export class KubeconfigError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'KubeconfigError'
  }
}

export function parseKubeconfig(text: string, file: string): Kubeconfig {
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (cause) {
    throw new KubeconfigError(`${file} is not YAML: ${cause instanceof Error ? cause.message.split('\n')[0] : cause}`)
  }
  if (typeof value !== 'object' || value === null) throw new KubeconfigError(`${file} is not a kubeconfig: it holds no object`)
  const config = value as Record<string, unknown>
  const named = <T>(list: unknown, key: string): NamedEntry<T>[] =>
    (Array.isArray(list) ? list : []).filter(isEntry).map((entry) => ({ name: String(entry.name), value: (entry[key] ?? {}) as T }))
  return {
    file,
    currentContext: typeof config['current-context'] === 'string' ? config['current-context'] : '',
    clusters: named(config.clusters, 'cluster'),
    users: named(config.users, 'user'),
    contexts: named(config.contexts, 'context'),
  }
}

const isEntry = (entry: unknown): entry is Record<string, unknown> => typeof entry === 'object' && entry !== null && 'name' in entry

/** The connection of a context (default: the current one). Every error names the file and what to change. */
export function connectionOf(config: Kubeconfig, contextName: string | undefined, host: KubeconfigHost): Connection {
  const name = contextName ?? config.currentContext
  const context = config.contexts.find((entry) => entry.name === name)?.value
  if (context === undefined) {
    const known = config.contexts.map((entry) => entry.name).join(', ')
    throw new KubeconfigError(
      name === ''
        ? `${config.file} has no current context; name one with --context (${known})`
        : `${config.file} has no context ${name} (it has: ${known})`,
    )
  }
  const cluster = config.clusters.find((entry) => entry.name === context.cluster)?.value
  if (cluster?.server === undefined)
    throw new KubeconfigError(`${config.file}: context ${name} names cluster ${context.cluster ?? '(none)'}, which has no server`)
  const user = config.users.find((entry) => entry.name === context.user)?.value ?? {}
  const text = (data: string | undefined, path: string | undefined): string | undefined => {
    if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
    return path === undefined ? undefined : host.readFile(host.resolvePath(config.file, path))
  }
  return {
    context: name,
    namespace: context.namespace ?? 'default',
    server: cluster.server,
    ca: text(cluster['certificate-authority-data'], cluster['certificate-authority']),
    cert: text(user['client-certificate-data'], user['client-certificate']),
    key: text(user['client-key-data'], user['client-key']),
    serverName: cluster['tls-server-name'],
    insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'],
    token: tokenSource(config, user, host),
  }
}

const TOKEN_FILE_TTL_MS = 60_000
const EXPIRY_MARGIN_MS = 60_000

function tokenSource(config: Kubeconfig, user: UserEntry, host: KubeconfigHost): TlsConnection['token'] {
  if (user.token !== undefined) return () => user.token
  if (user.tokenFile !== undefined)
    return cached(host, async () => fileToken(host.readFile(host.resolvePath(config.file, user.tokenFile ?? '')), host))
  const { exec } = user
  return exec === undefined ? undefined : cached(host, () => pluginToken(exec, host))
}

interface Token {
  value: string | undefined
  expiresAtMs: number
}

function cached(host: KubeconfigHost, load: () => Promise<Token>): () => Promise<string | undefined> {
  let token: Token | undefined
  return async () => {
    if (token === undefined || host.nowMs() >= token.expiresAtMs) token = await load()
    return token.value
  }
}

/** Token files are rotated by whoever wrote them: read again after a while. */
const fileToken = (text: string, host: KubeconfigHost): Token => ({ value: text.trim(), expiresAtMs: host.nowMs() + TOKEN_FILE_TTL_MS })

async function pluginToken(exec: ExecPlugin, host: KubeconfigHost): Promise<Token> {
  const command = exec.command ?? ''
  if (command === '') throw new KubeconfigError('the user has an exec plug-in without a command')
  const apiVersion = exec.apiVersion ?? 'client.authentication.k8s.io/v1'
  const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } })
  const env = { ...Object.fromEntries((exec.env ?? []).map((entry) => [entry.name, entry.value])), KUBERNETES_EXEC_INFO: info }
  const printed = await host.runPlugin(command, exec.args ?? [], env)
  const status = credentialStatus(printed, command)
  const expiry =
    status.expirationTimestamp === undefined ? Number.POSITIVE_INFINITY : Date.parse(status.expirationTimestamp) - EXPIRY_MARGIN_MS
  return { value: status.token, expiresAtMs: expiry }
}

function credentialStatus(printed: string, command: string): { token?: string; expirationTimestamp?: string } {
  try {
    const value = JSON.parse(printed) as { status?: { token?: string; expirationTimestamp?: string } }
    if (value.status !== undefined) return value.status
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new KubeconfigError(`the credential plug-in ${command} did not print an ExecCredential with a status`)
}

const IN_CLUSTER_DIR = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The connection of a pod to the cluster it runs in; undefined outside of one. */
export function inClusterConnection(host: KubeconfigHost): Connection | undefined {
  const address = host.env('KUBERNETES_SERVICE_HOST')
  const port = host.env('KUBERNETES_SERVICE_PORT')
  if (address === undefined || port === undefined) return undefined
  return {
    context: 'in-cluster',
    namespace: host.readFile(`${IN_CLUSTER_DIR}/namespace`).trim(),
    server: `https://${address.includes(':') ? `[${address}]` : address}:${port}`,
    ca: host.readFile(`${IN_CLUSTER_DIR}/ca.crt`),
    token: cached(host, async () => fileToken(host.readFile(`${IN_CLUSTER_DIR}/token`), host)),
  }
}

export interface KubeconfigCluster {
  context: string
  server: string
  caPem: string
  certPem: string
  keyPem: string
}

/** A kubeconfig for the clusters of this machine. JSON is YAML, but people open this file: it is written for them. */
export function formatKubeconfig(clusters: readonly KubeconfigCluster[], currentContext: string): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const lines = ['apiVersion: v1', 'kind: Config', `current-context: ${currentContext}`, 'clusters:']
  for (const c of clusters)
    lines.push(`- name: ${c.context}`, '  cluster:', `    server: ${c.server}`, `    certificate-authority-data: ${base64(c.caPem)}`)
  lines.push('users:')
  for (const c of clusters)
    lines.push(
      `- name: ${c.context}-admin`,
      '  user:',
      `    client-certificate-data: ${base64(c.certPem)}`,
      `    client-key-data: ${base64(c.keyPem)}`,
    )
  lines.push('contexts:')
  for (const c of clusters) lines.push(`- name: ${c.context}`, '  context:', `    cluster: ${c.context}`, `    user: ${c.context}-admin`)
  return `${lines.join('\n')}\n`
}
