/**
 * What exists on a cluster before anybody writes to it: the system namespaces, the `kubernetes` Service, priority classes,
 * default RBAC, and the ConfigMap that tells extension servers whom to believe. The objects are facts recorded on a real
 * server; here they are put in an order in which each finds its namespace, and fitted to this server.
 */
import { deepClone, isJsonObject } from '../../base/json.ts'
import type { AdmissionReader } from '../../kinds/admission.ts'
import { type KubeObject, parseGroupVersion } from '../../kube/meta.ts'

export interface BootstrapOptions {
  /** No controllers run: roles that a controller fills by aggregation start without rules, as on a bare kube-apiserver. */
  bare: boolean
  /** Where the server listens; the `kubernetes` Service points there. */
  port: number
  /** First address of the service range; default 10.0.0.1. */
  serviceIp?: string
  /** PEM of the authority that client certificates are checked against. */
  clientCa?: string
}

/** The objects of a fresh cluster, ready to be created in this order. `facts` is what was recorded on a real server. */
export function bootstrapObjects(facts: readonly KubeObject[], options: BootstrapOptions): KubeObject[] {
  const fitted = facts.map((fact) => fit(deepClone(fact), options))
  const extension = options.clientCa === undefined ? [] : [extensionAuthentication(options.clientCa)]
  return [...fitted.filter(isNamespace), ...fitted.filter((object) => !isNamespace(object)), ...extension]
}

/** Those that are not there: a later start creates what a newer version brings, and leaves what users changed alone. */
export function missingObjects(
  wanted: readonly KubeObject[],
  read: AdmissionReader,
  resourceOf: (object: KubeObject) => string,
): KubeObject[] {
  return wanted.filter((object) => {
    const { group } = parseGroupVersion(object.apiVersion)
    return read.get({ group, resource: resourceOf(object) }, object.metadata.namespace ?? '', object.metadata.name ?? '') === undefined
  })
}

const isNamespace = (object: KubeObject): boolean => object.kind === 'Namespace'

function fit(object: KubeObject, options: BootstrapOptions): KubeObject {
  if (options.bare && object.kind === 'ClusterRole' && isJsonObject(object.aggregationRule)) return { ...object, rules: null }
  if (object.kind === 'Service' && object.metadata.name === 'kubernetes' && isJsonObject(object.spec)) {
    const address = options.serviceIp ?? '10.0.0.1'
    const ports = [{ name: 'https', protocol: 'TCP', port: 443, targetPort: options.port }]
    return { ...object, spec: { ...object.spec, clusterIP: address, clusterIPs: [address], ports } }
  }
  return object
}

function extensionAuthentication(clientCa: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
    data: { 'client-ca-file': clientCa },
  }
}
