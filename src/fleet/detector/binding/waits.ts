/**
 * Why a template that has a policy has no binding from it yet, or only an outdated one. The reason is recorded on the
 * binding or, before there is one, on the template; each wait ends when what it waits for changes.
 */
import { controllerUidOf } from './desired.ts'
import type { Observed, Subject } from './observe.ts'

/** Undefined when it waits for nothing. */
export function waitOf(subject: Subject, observed: Observed): string | undefined {
  const { template, decision, missingOverrides } = subject
  if (decision.policy === undefined || template.metadata.deletionTimestamp !== undefined) return undefined
  if (missingOverrides.length > 0) return `waiting for dependent overrides: ${missingOverrides.join(', ')}`
  if (isElsewhere(subject, observed)) return collisionText(subject, observed)
  if (subject.isDeferred) return undefined
  const { missingClass, interpretation } = observed
  if (missingClass !== undefined) return `waiting for PriorityClass ${missingClass}, which does not exist`
  return interpretation !== undefined && 'failed' in interpretation ? interpretation.failed : undefined
}

/** The binding of this name belongs, or will belong, to another template. */
function isElsewhere(subject: Subject, { binding, winner }: Observed): boolean {
  if (winner !== undefined && winner !== subject) return true
  const owner = binding === undefined ? undefined : controllerUidOf(binding)
  return owner !== undefined && owner !== subject.template.metadata.uid
}

function collisionText({ template }: Subject, { binding, winner }: Observed): string {
  const owner = binding?.metadata.ownerReferences?.find(({ controller }) => controller === true)
  const other = owner ?? { kind: winner?.template.kind, name: winner?.template.metadata.name }
  return other.kind === template.kind && other.name === template.metadata.name
    ? 'waiting for the binding of the former object of this name to go'
    : `its binding would have the same name as that of ${other.kind} ${other.name}: give one of the two another name`
}
