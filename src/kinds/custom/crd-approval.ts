/** Groups of the Kubernetes community are protected: a CustomResourceDefinition in one must state who approved it. */
import type { Crd } from './crd.ts'

const ANNOTATION = 'api-approved.kubernetes.io'
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111'

export const isProtectedGroup = (group: string): boolean => /(^|\.)(k8s|kubernetes)\.io$/.test(group)

export interface Approval {
  state: 'missing' | 'bypassed' | 'approved' | 'invalid'
  reason: string
}

export function approvalOf(crd: Crd): Approval {
  const value = crd.metadata.annotations?.[ANNOTATION] ?? ''
  if (value === '') return { state: 'missing', reason: `protected groups must have approval annotation "${ANNOTATION}", ${SEE}` }
  if (value.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${JSON.stringify(value)}` }
  if (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#\s]+/.test(value)) return { state: 'approved', reason: `approved in ${value}` }
  return {
    state: 'invalid',
    reason: `protected groups must have approval annotation "${ANNOTATION}" with either a URL or a reason starting with "unapproved", ${SEE}`,
  }
}
