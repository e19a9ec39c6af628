/** Where a webhook is: its URL, or a Service of the hub looked up in a cache. */
import type { WebhookClientConfig } from '../../../kinds/karmada/index.ts'

/** The parts of a Service that an address needs. */
export interface AddressedService {
  spec?: { type?: string; clusterIP?: string; externalName?: string; ports?: readonly { port?: number }[] }
}

export interface Addresses {
  /** A Service of the hub, if there is one. */
  service(namespace: string, name: string): AddressedService | undefined
}

export interface Target {
  url: string
  /** PEM, decoded. */
  caBundle: string | undefined
  /** Where to connect to, if not to the host of the URL: the server's certificate is still checked against the URL. */
  connectTo?: { host: string; port: number }
}

const DEFAULT_PORT = 443

export function targetOf(config: WebhookClientConfig, addresses: Addresses): Target {
  const caBundle = config.caBundle === undefined ? undefined : Buffer.from(config.caBundle, 'base64').toString('utf8')
  if (config.url !== undefined) return { url: config.url, caBundle }
  if (config.service === undefined) throw new Error('webhook configuration must have either service or URL')
  const { namespace, name, path = '', port = DEFAULT_PORT } = config.service
  const host = hostOf(addresses.service(namespace, name), name, port)
  const url = `https://${name}.${namespace}.svc:${port}${path === '' || path.startsWith('/') ? path : `/${path}`}`
  return host === undefined ? { url, caBundle } : { url, caBundle, connectTo: { host, port } }
}

/** Undefined for a Service that the hub does not have: its name is then resolved like any other. */
function hostOf(service: AddressedService | undefined, name: string, port: number): string | undefined {
  if (service === undefined) return undefined
  const { type = 'ClusterIP', clusterIP = '', externalName = '', ports = [] } = service.spec ?? {}
  if (type === 'ExternalName') return externalName
  if (clusterIP === 'None' || clusterIP === '') throw new Error(`cannot route to service with ClusterIP "${clusterIP}"`)
  if (!ports.some((one) => one.port === port)) throw new Error(`no service port ${port} found for service "${name}"`)
  return clusterIP
}
