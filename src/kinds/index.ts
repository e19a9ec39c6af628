/** The registry of the kinds that Sluice itself brings, beside the built-in ones of Kubernetes: one line per kind. */
import { ReferenceGrant } from './gateway/reference-grant.ts'
import type { OwnKind } from './schema/define-kind.ts'

export const ownKinds: readonly OwnKind[] = Object.freeze([ReferenceGrant])
