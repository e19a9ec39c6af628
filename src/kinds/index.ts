/** The registry of the kinds that Sluice itself brings, beside the built-in ones of Kubernetes: one line per kind. */
import { ReferenceGrant } from './gateway/reference-grant.ts'
import { karmadaKinds } from './karmada/index.ts'
import type { OwnKind } from './schema/define-kind.ts'

/** Served wherever Sluice serves. */
export const sharedKinds: readonly OwnKind[] = Object.freeze([ReferenceGrant])
/** Served by the hub alone: a member is an ordinary cluster. */
export const hubKinds: readonly OwnKind[] = karmadaKinds
export const ownKinds: readonly OwnKind[] = Object.freeze([...sharedKinds, ...hubKinds])
