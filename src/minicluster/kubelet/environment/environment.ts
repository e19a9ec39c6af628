/**
 * The environment of a container: what it declares, resolved from the pod, its ConfigMaps and Secrets, on top of what
 * every container has. A reference that cannot be resolved is a problem, worded as the kubelet does. Pure.
 */
import { secretText } from '../../../kinds/kubernetes/secret-data.ts'
import type { ConfigMap, Container, EnvFromSource, EnvVar, Node, Pod, Secret } from '../../../kinds/kubernetes/types.ts'
import type { Source } from '../../../runtime/seams/volume-driver.ts'
import { type Addresses, fieldValue, resourceValue, type Value } from './downward.ts'
import { expand } from './expand.ts'

export interface EnvironmentContext extends Addresses {
  pod: Pod
  node: Node | undefined
  configMap(name: string): ConfigMap | undefined
  secret(name: string): Secret | undefined
  /** What every container has unless it overrides it: `PATH`, `HOSTNAME`, the address of the API server. */
  base: Readonly<Record<string, string>>
}

export type Environment = { env: Record<string, string> } | { problem: string }

export function environmentOf(container: Container, context: EnvironmentContext): Environment {
  const declared = new Map<string, string>()
  for (const from of container.envFrom ?? []) {
    const problem = takeAll(from, declared, context)
    if (problem !== undefined) return { problem }
  }
  const lookup = (name: string): string | undefined =>
    declared.get(name) ?? (Object.hasOwn(context.base, name) ? context.base[name] : undefined)
  for (const variable of container.env ?? []) {
    const value = resolveVariable(variable, { container, context, lookup })
    if (value === undefined) continue
    if ('problem' in value) return value
    declared.set(variable.name ?? '', value.value)
  }
  // To the system a NUL ends a variable; whatever comes after it would be lost silently.
  for (const [name, value] of declared) if (`${name}${value}`.includes('\0')) return { problem: `variable "${name}" contains a NUL byte` }
  return { env: Object.fromEntries([...Object.entries(context.base), ...declared]) }
}

function takeAll(from: EnvFromSource, into: Map<string, string>, context: EnvironmentContext): string | undefined {
  const { prefix = '', configMapRef, secretRef } = from
  const ref = configMapRef ?? secretRef
  if (ref === undefined) return undefined
  const name = ref.name ?? ''
  const data = configMapRef !== undefined ? context.configMap(name)?.data : textsOf(context.secret(name))
  const isThere = configMapRef !== undefined ? context.configMap(name) !== undefined : data !== undefined
  if (!isThere) return ref.optional === true ? undefined : `${configMapRef !== undefined ? 'configmap' : 'secret'} "${name}" not found`
  for (const [key, value] of Object.entries(data ?? {})) into.set(`${prefix}${key}`, value)
  return undefined
}

interface Asking {
  container: Container
  context: EnvironmentContext
  lookup(name: string): string | undefined
}

/** Undefined when an optional reference cannot be resolved: then the variable is not set. */
function resolveVariable({ value = '', valueFrom }: EnvVar, { container, context, lookup }: Asking): Value | undefined {
  if (value !== '' || valueFrom === undefined) return { value: expand(value, lookup) }
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom
  if (fieldRef !== undefined) return fieldValue(context.pod, fieldRef.fieldPath ?? '', context)
  if (resourceFieldRef !== undefined) return resourceValue(context.pod, resourceFieldRef, { node: context.node, container })
  const ref = configMapKeyRef ?? secretKeyRef
  if (ref === undefined) return { problem: 'fileKeyRef is not supported on process nodes' }
  const [name, key, kind] = [ref.name ?? '', ref.key ?? '', configMapKeyRef !== undefined ? 'ConfigMap' : 'Secret']
  const found = configMapKeyRef !== undefined ? context.configMap(name) : context.secret(name)
  if (found === undefined) return ref.optional === true ? undefined : { problem: `${kind.toLowerCase()} "${name}" not found` }
  const data = configMapKeyRef !== undefined ? (found as ConfigMap).data : textsOf(found as Secret)
  const text = data !== undefined && Object.hasOwn(data, key) ? data[key] : undefined
  if (text !== undefined) return { value: text }
  const where = `${context.pod.metadata.namespace ?? ''}/${name}`
  return ref.optional === true ? undefined : { problem: `couldn't find key ${key} in ${kind} ${where}` }
}

function textsOf(secret: Secret | undefined): Record<string, string> | undefined {
  if (secret === undefined) return undefined
  return Object.fromEntries(Object.keys(secret.data ?? {}).map((key) => [key, secretText(secret, key)]))
}

/** Objects that the variables of a pod's containers come from. */
export function environmentSources({ spec }: Pod): Source[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].flatMap((container) => [
    ...(container.envFrom ?? []).flatMap(({ configMapRef, secretRef }) => refs(configMapRef?.name, secretRef?.name)),
    ...(container.env ?? []).flatMap(({ valueFrom }) => refs(valueFrom?.configMapKeyRef?.name, valueFrom?.secretKeyRef?.name)),
  ])
}

const refs = (configMap: string | undefined, secret: string | undefined): Source[] => [
  ...(configMap === undefined ? [] : [{ kind: 'ConfigMap' as const, name: configMap }]),
  ...(secret === undefined ? [] : [{ kind: 'Secret' as const, name: secret }]),
]
