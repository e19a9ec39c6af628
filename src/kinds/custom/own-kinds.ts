/**
 * A CustomResourceDefinition of a kind that the server has of its own: guides tell users to apply one, so it is stored
 * like any other, but the server's own definition goes on serving. Whoever writes it is told so.
 */
import type { KubeObject } from '../../kube/meta.ts'
import type { KindDefinition, KindRules } from '../kind.ts'
import { asCrd, CRD_GROUP, type CrdSpec } from './crd.ts'
import { markOwnCrdDeleting } from './crd-status.ts'

/** The kinds of a server, with rules for CustomResourceDefinitions that know which of these kinds are the server's own. */
export function withOwnKinds(kinds: readonly KindDefinition[]): KindDefinition[] {
  const own = new Map(kinds.filter(({ builtin }) => !builtin).map((kind) => [`${kind.plural}.${kind.group}`, kind]))
  const isCrd = ({ group, kind }: KindDefinition): boolean => group === CRD_GROUP && kind === 'CustomResourceDefinition'
  return kinds.map((kind) => (isCrd(kind) ? { ...kind, rules: ownKindRules(kind.rules, own) } : kind))
}

function ownKindRules(rules: KindRules, own: ReadonlyMap<string, KindDefinition>): KindRules {
  const ownOf = (crd: KubeObject): KindDefinition | undefined => own.get(crd.metadata.name ?? '')
  return {
    ...rules,
    warnings(object, old, context) {
      const kind = ownOf(object)
      if (kind === undefined) return rules.warnings?.(object, old, context) ?? []
      return context.subresource === '' ? [ownKindWarning(kind, asCrd(object).spec)] : []
    },
    markDeleting(object, now) {
      if (ownOf(object) === undefined) rules.markDeleting?.(object, now)
      else markOwnCrdDeleting(object, now)
    },
  }
}

function ownKindWarning({ group, plural, versions }: KindDefinition, spec: CrdSpec): string {
  const served = new Set(versions.filter((version) => version.served).map(({ name }) => name))
  const missing = spec.versions.filter((version) => version.served && !served.has(version.name)).map(({ name }) => name)
  const what = `Sluice serves ${plural}.${group} itself: this definition is stored but has no effect, and deleting it deletes no objects`
  if (missing.length === 0) return what
  return `${what}; ${missing.length === 1 ? 'version' : 'versions'} ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not served`
}
