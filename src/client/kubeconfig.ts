/**
 * Kubeconfig files: resolves contexts, clusters and users to one connection. Reading files and running credential plug-ins
 * are injected, so that it is pure and can be tested without either.
 */

import { parse as parseYaml } from 'yaml'
import { isJsonObject } from '../base/json.ts'
import { type ExecPlugin, identityFromPlugin, KubeconfigError, type KubeconfigHost, tokenFromFile } from './credentials.ts'
import type { TlsConnection } from './transport/undici.ts'

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
  'proxy-url'?: string
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

export function parseKubeconfig(text: string, file: string): Kubeconfig {
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (cause) {
    throw new KubeconfigError(`${file} is not YAML: ${cause instanceof Error ? cause.message.split('\n')[0] : cause}`)
  }
  if (!isJsonObject(value)) throw new KubeconfigError(`${file} is not a kubeconfig: it holds no object`)
  const config = value
  const named = <T>(list: unknown, key: string): NamedEntry<T>[] =>
    (Array.isArray(list) ? list : [])
      .filter(isEntry)
      .map((entry) => ({ name: String(entry.name), value: (isJsonObject(entry[key]) ? entry[key] : {}) as T }))
  return {
    file,
    currentContext: typeof config['current-context'] === 'string' ? config['current-context'] : '',
    clusters: named(config.clusters, 'cluster'),
    users: named(config.users, 'user'),
    contexts: named(config.contexts, 'context'),
  }
}

const isEntry = (entry: unknown): entry is Record<string, unknown> => isJsonObject(entry) && 'name' in entry

/** The connection of a context (default: the current one). Every error names the file and what to change. */
export function connectionOf(config: Kubeconfig, contextName: string | undefined, host: KubeconfigHost): Connection {
  const name = contextName ?? config.currentContext
  const context = config.contexts.find((entry) => entry.name === name)?.value
  if (context === undefined) throw new KubeconfigError(noContext(config, name))
  const cluster = config.clusters.find((entry) => entry.name === context.cluster)?.value
  const server = textOf(cluster?.server)
  if (cluster === undefined || server === undefined)
    throw new KubeconfigError(`${config.file}: context ${name} names cluster ${context.cluster ?? '(none)'}, which has no server`)
  const proxy = textOf(cluster['proxy-url'])
  const user = config.users.find((entry) => entry.name === context.user)?.value ?? {}
  const pem = (data: unknown, path: unknown): string | undefined => {
    const encoded = textOf(data)
    if (encoded !== undefined) return Buffer.from(encoded, 'base64').toString('utf8')
    const file = textOf(path)
    return file === undefined ? undefined : host.readFile(host.resolvePath(config.file, file))
  }
  return {
    context: name,
    namespace: textOf(context.namespace) ?? 'default',
    server,
    ca: pem(cluster['certificate-authority-data'], cluster['certificate-authority']),
    cert: pem(user['client-certificate-data'], user['client-certificate']),
    key: pem(user['client-key-data'], user['client-key']),
    serverName: textOf(cluster['tls-server-name']),
    insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'] === true,
    ...(proxy === undefined ? {} : { proxy: { url: proxy } }),
    ...identityOf(config, user, host),
  }
}

function noContext(config: Kubeconfig, name: string): string {
  const known = config.contexts.map((entry) => entry.name).join(', ')
  if (name === '') return `${config.file} has no current context; name one with --context (${known})`
  return `${config.file} has no context ${name} (it has: ${known})`
}

/** Files are written by people: a value that is not a string, or is empty, counts as absent. */
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** A token file takes precedence over a token, as in kubectl: it is the one that is kept up to date. */
function identityOf(config: Kubeconfig, user: UserEntry, host: KubeconfigHost): Pick<TlsConnection, 'token' | 'clientCertificate'> {
  const tokenFile = textOf(user.tokenFile)
  if (tokenFile !== undefined) return tokenFromFile(host.resolvePath(config.file, tokenFile), host)
  const token = textOf(user.token)
  if (token !== undefined) return { token: () => token }
  return typeof user.exec === 'object' && user.exec !== null ? identityFromPlugin(user.exec, config.file, host) : {}
}

const IN_CLUSTER_DIR = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The connection of a pod to the cluster it runs in; undefined outside a pod. */
export function inClusterConnection(host: KubeconfigHost): Connection | undefined {
  const address = host.env('KUBERNETES_SERVICE_HOST')
  const port = host.env('KUBERNETES_SERVICE_PORT')
  if (address === undefined || port === undefined) return undefined
  return {
    context: 'in-cluster',
    namespace: host.readFile(`${IN_CLUSTER_DIR}/namespace`).trim(),
    server: `https://${address.includes(':') ? `[${address}]` : address}:${port}`,
    ca: host.readFile(`${IN_CLUSTER_DIR}/ca.crt`),
    ...tokenFromFile(`${IN_CLUSTER_DIR}/token`, host),
  }
}

export interface KubeconfigCluster {
  context: string
  server: string
  caPem: string
  certPem: string
  keyPem: string
}

/** A kubeconfig for the clusters of this machine. JSON would be valid YAML, but people open this file, so it is formatted for them. */
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
