/** Where a webhook is: its URL, or a Service of the hub looked up in a cache. */
import type { WebhookClientConfig } from '../../../kinds/karmada/index.ts'

/** A Service, as far as an address needs it. */
export interface AddressedService {
  spec?: { type?: string; clusterIP?: string; externalName?: string }
}

export interface Addresses {
  /** A Service of the hub, if there is one. */
  service(namespace: string, name: string): AddressedService | undefined
}

export interface Target {
  url: string
  /** PEM, decoded. */
  caBundle: string | undefined
}

const DEFAULT_PORT = 443

export function targetOf(config: WebhookClientConfig, addresses: Addresses): Target {
  const caBundle = config.caBundle === undefined ? undefined : Buffer.from(config.caBundle, 'base64').toString('utf8')
  if (config.url !== undefined) return { url: config.url, caBundle }
  if (config.service === undefined) throw new Error('webhook configuration must have either service or URL')
  const { namespace, name, path = '', port = DEFAULT_PORT } = config.service
  const host = hostOf(addresses.service(namespace, name), namespace, name)
  return { url: `https://${host}:${port}${path === '' || path.startsWith('/') ? path : `/${path}`}`, caBundle }
}

function hostOf(service: AddressedService | undefined, namespace: string, name: string): string {
  const { type = 'ClusterIP', clusterIP, externalName } = service?.spec ?? {}
  if (service === undefined) return `${name}.${namespace}.svc`
  if (type === 'ExternalName') return externalName ?? ''
  if (clusterIP === 'None' || clusterIP === undefined || clusterIP === '') {
    throw new Error(`headless service ${namespace}/${name} is not supported`)
  }
  return clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP
}
