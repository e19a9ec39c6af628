/**
 * What may be propagated at all: never events and leases, never the kinds that modules keep on the hub, nothing in the
 * namespaces that are reserved there, and nothing an administrator has excluded (`--skipped-propagating-apis`,
 * `--skipped-propagating-namespaces`).
 */

import { isReserved } from '../kinds/karmada/binding-reach.ts'
import { CLAIMED_BY_LABEL } from '../kinds/karmada/well-known.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'

export interface PropagationOptions {
  /** API groups whose objects are never propagated, as modules declare them. */
  neverTravel?: readonly string[]
  /** `group`, `group/version` or `group/version/Kind,Kind`, joined by ";"; for the core group `v1` or `v1/Kind,Kind`. */
  skippedApis?: string
  /** Regular expressions matched against whole namespace names (default: `kube-.*`). */
  skippedNamespaces?: readonly string[]
}

const DEFAULT_SKIPPED_NAMESPACES = ['kube-.*']

const isNeverPropagated = ({ group, kind, version }: Resource): boolean =>
  group === 'events.k8s.io' || (group === '' && kind === 'Event') || (group === 'coordination.k8s.io' && version === 'v1')

export interface Propagatable {
  /** Whether objects of this resource can be templates. */
  isPropagatable(resource: Resource): boolean
  /** Whether policies ignore this object although its kind can be propagated. */
  isSkipped(object: KubeObject): boolean
}

/** Compiled once, for checking every resource and every object. */
export function createPropagatable(options: PropagationOptions = {}): Propagatable {
  const { neverTravel = [], skippedApis = '' } = options
  const groups = new Set(neverTravel)
  const rules = parseSkippedApis(skippedApis)
  const isPropagatable = (resource: Resource): boolean =>
    !isNeverPropagated(resource) && !groups.has(resource.group) && !rules.some((rule) => isMeant(rule, resource))
  return { isPropagatable, isSkipped: skippedObjects(options) }
}

interface SkippedApi {
  group: string
  version?: string
  kinds?: readonly string[]
}

/** A group name contains a dot or is not a version; the core group has no name, so its version comes first. */
function parseSkippedApis(text: string): SkippedApi[] {
  return text
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const segments = part.split('/')
      const [group = '', version, kinds] = segments[0] === 'v1' ? ['', ...segments] : segments
      return { group, version, kinds: kinds?.split(',').map((kind) => kind.trim()) }
    })
}

const isMeant = ({ group, version, kinds }: SkippedApi, resource: Resource): boolean =>
  group === resource.group &&
  (version === undefined || version === resource.version) &&
  (kinds === undefined || kinds.includes(resource.kind))

function skippedObjects({ skippedNamespaces = DEFAULT_SKIPPED_NAMESPACES }: PropagationOptions): (object: KubeObject) => boolean {
  const patterns = skippedNamespaces.map((pattern) => new RegExp(`^(?:${pattern})$`, 'u'))
  const verdicts = new Map<string, boolean>()
  const isSkippedNamespace = (namespace: string): boolean => {
    let verdict = verdicts.get(namespace)
    if (verdict === undefined) {
      verdict = isReserved(namespace) || patterns.some((pattern) => pattern.test(namespace))
      verdicts.set(namespace, verdict)
    }
    return verdict
  }
  // Only the object's own namespace counts: a Namespace object called kube-x is itself in none.
  return ({ kind, metadata }) => {
    const { namespace = '', name, labels } = metadata
    if (labels?.[CLAIMED_BY_LABEL] !== undefined && labels[CLAIMED_BY_LABEL] !== '') return true
    if (namespace === '') return false
    return isSkippedNamespace(namespace) || isAuthenticationConfig(kind, namespace, name)
  }
}

/** Every API server has one of its own, whatever namespaces are skipped. */
const isAuthenticationConfig = (kind: string, namespace: string, name: string | undefined): boolean =>
  kind === 'ConfigMap' && namespace === 'kube-system' && name === 'extension-apiserver-authentication'
