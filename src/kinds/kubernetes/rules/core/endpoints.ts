/** Endpoints, the old form of EndpointSlice: addresses and ports in subsets. */
import { child, type FieldError, index, required } from '../../../../kube/field-error.ts'
import { ipWarnings } from '../../../../kube/ip.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { KindRules } from '../../../kind.ts'
import { defaultString, type Fields, maybeString, number, object, objects, string, writableObjects } from '../fields.ts'
import { dnsLabelErrors, dnsSubdomainErrors, portNumberErrors, qualifiedNameErrors } from '../formats.ts'
import { endpointIpErrors, legacyIpErrors } from '../ip.ts'
import { semanticEqual } from '../pod/semantic.ts'
import { protocolErrors } from './service-validation.ts'

function subsetErrors(endpoints: KubeObject): FieldError[] {
  return objects(endpoints, 'subsets').flatMap((subset, i) => {
    const path = index('subsets', i)
    const ready = objects(subset, 'addresses')
    const notReady = objects(subset, 'notReadyAddresses')
    const ports = objects(subset, 'ports')
    return [
      ...(ready.length + notReady.length === 0 ? [required(path, 'must specify `addresses` or `notReadyAddresses`')] : []),
      ...ready.flatMap((address, j) => addressErrors(index(child(path, 'addresses'), j), address)),
      ...notReady.flatMap((address, j) => addressErrors(index(child(path, 'notReadyAddresses'), j), address)),
      ...ports.flatMap((port, j) => portErrors(index(child(path, 'ports'), j), port, ports.length > 1)),
    ]
  })
}

function addressErrors(path: string, address: Fields): FieldError[] {
  const host = string(address, 'hostname')
  const node = maybeString(address, 'nodeName')
  return [
    ...legacyIpErrors(child(path, 'ip'), string(address, 'ip')),
    ...(host === '' ? [] : dnsLabelErrors(child(path, 'hostname'), host)),
    ...(node === undefined ? [] : dnsSubdomainErrors(child(path, 'nodeName'), node)),
    ...endpointIpErrors(child(path, 'ip'), string(address, 'ip')),
  ]
}

function portErrors(path: string, port: Fields, requireName: boolean): FieldError[] {
  const name = string(port, 'name')
  const application = maybeString(port, 'appProtocol')
  return [
    ...(name !== '' ? dnsLabelErrors(child(path, 'name'), name) : requireName ? [required(child(path, 'name'))] : []),
    ...portNumberErrors(child(path, 'port'), number(port, 'port')),
    ...protocolErrors(child(path, 'protocol'), port),
    ...(application === undefined ? [] : qualifiedNameErrors(child(path, 'appProtocol'), application)),
  ]
}

function warnings(endpoints: KubeObject): string[] {
  if (string(object(endpoints.metadata, 'labels'), 'endpoints.kubernetes.io/managed-by') === 'endpoint-controller') return []
  return objects(endpoints, 'subsets').flatMap((subset, i) =>
    ['addresses', 'notReadyAddresses'].flatMap((list) =>
      objects(subset, list).flatMap((address, j) =>
        ipWarnings(child(index(child(index('subsets', i), list), j), 'ip'), string(address, 'ip')),
      ),
    ),
  )
}

export const endpointsRules: KindRules = {
  applyDefaults(endpoints) {
    for (const subset of writableObjects(endpoints, 'subsets'))
      for (const port of writableObjects(subset, 'ports')) defaultString(port, 'protocol', 'TCP')
  },
  validateCreate: subsetErrors,
  validateUpdate: (endpoints, old) => (semanticEqual(endpoints.subsets, old.subsets) ? [] : subsetErrors(endpoints)),
  warnings,
  allowCreateOnUpdate: true,
}
