/**
 * Where tokens and certificates of a kubeconfig's user come from: inline, from a file that its writer rotates, or printed by
 * a plug-in. Loaded when first needed, kept until they expire or the server refuses them.
 */
import { messageOf } from '../base/error-text.ts'
import type { ErrorCode } from '../base/errors/catalogue.ts'
import type { TlsConnection } from './transport/undici.ts'

/** What a kubeconfig needs from the machine it is read on. */
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

export class KubeconfigError extends Error {
  readonly code = 'E_KUBECONFIG_INVALID' satisfies ErrorCode
  constructor(message: string) {
    super(message)
    this.name = 'KubeconfigError'
  }
}

export interface ExecPlugin {
  apiVersion?: string
  command?: string
  args?: string[]
  env?: { name: string; value: string }[]
  installHint?: string
}

interface Credential {
  token?: string
  cert?: string
  key?: string
  expiresAtMs: number
}

type Identity = Pick<TlsConnection, 'token' | 'clientCertificate'>

/** Token files are rotated by their writer: read again after this time. */
const TOKEN_FILE_TTL_MS = 60_000
const EXPIRY_MARGIN_MS = 60_000

export function tokenFromFile(path: string, host: KubeconfigHost): Identity {
  const load = cached(host, async () => ({ token: host.readFile(path).trim(), expiresAtMs: host.nowMs() + TOKEN_FILE_TTL_MS }))
  return { token: async (isRefused) => (await load(isRefused)).token }
}

/** A command with a slash is resolved against the kubeconfig's directory, any other on the PATH. */
export function identityFromPlugin(plugin: ExecPlugin, file: string, host: KubeconfigHost): Identity {
  const load = cached(host, () => runPlugin(plugin, file, host))
  return {
    token: async (isRefused) => (await load(isRefused)).token,
    async clientCertificate() {
      const { cert, key } = await load(false)
      return cert === undefined || key === undefined ? undefined : { cert, key }
    },
  }
}

/** One load at a time, however many callers; a failure is not cached. */
function cached(host: KubeconfigHost, load: () => Promise<Credential>): (isRefused?: boolean) => Promise<Credential> {
  let held: Credential | undefined
  let loading: Promise<Credential> | undefined
  return async (isRefused = false) => {
    if (held !== undefined && !isRefused && host.nowMs() < held.expiresAtMs) return held
    loading ??= load().finally(() => {
      loading = undefined
    })
    held = await loading
    return held
  }
}

async function runPlugin(plugin: ExecPlugin, file: string, host: KubeconfigHost): Promise<Credential> {
  if (typeof plugin.command !== 'string' || plugin.command === '')
    throw new KubeconfigError(`${file}: the user has an exec plug-in without a command`)
  const command = plugin.command.includes('/') ? host.resolvePath(file, plugin.command) : plugin.command
  const apiVersion = plugin.apiVersion ?? 'client.authentication.k8s.io/v1'
  const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } })
  const env = { ...Object.fromEntries((plugin.env ?? []).map((entry) => [entry.name, entry.value])), KUBERNETES_EXEC_INFO: info }
  const status = statusOf(await printed(plugin, command, { env, host }), command)
  const expiry = status.expirationTimestamp === undefined ? Number.NaN : Date.parse(status.expirationTimestamp)
  return {
    token: status.token,
    cert: status.clientCertificateData,
    key: status.clientKeyData,
    expiresAtMs: Number.isNaN(expiry) ? Number.POSITIVE_INFINITY : expiry - EXPIRY_MARGIN_MS,
  }
}

async function printed(plugin: ExecPlugin, command: string, how: { env: Record<string, string>; host: KubeconfigHost }): Promise<string> {
  try {
    return await how.host.runPlugin(command, (plugin.args ?? []).map(String), how.env)
  } catch (error) {
    const hint = plugin.installHint === undefined ? '' : `\n${plugin.installHint}`
    throw new KubeconfigError(`${messageOf(error)}${hint}`)
  }
}

interface PluginStatus {
  token?: string
  clientCertificateData?: string
  clientKeyData?: string
  expirationTimestamp?: string
}

function statusOf(text: string, command: string): PluginStatus {
  try {
    const value = JSON.parse(text) as { kind?: unknown; status?: PluginStatus } | null
    if (value?.kind === 'ExecCredential' && typeof value.status === 'object' && value.status !== null) {
      if (typeof value.status.token === 'string' || typeof value.status.clientCertificateData === 'string') return value.status
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new KubeconfigError(`the credential plug-in ${command} did not print an ExecCredential with a token or a certificate`)
}
