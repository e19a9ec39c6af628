/**
 * The shape of a CustomResourceDefinition after typed decoding, and a few common helpers.
 */
import { type Condition, isConditionTrue } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Schema } from '../../kube/schema.ts'

export interface CrdNames {
  plural: string
  singular?: string
  kind: string
  listKind?: string
  shortNames?: string[]
  categories?: string[]
}

export interface CrdColumn {
  name: string
  type: string
  format?: string
  description?: string
  priority?: number
  jsonPath: string
}

export interface CrdScale {
  specReplicasPath: string
  statusReplicasPath: string
  labelSelectorPath?: string
}

export interface CrdVersion {
  name: string
  served: boolean
  storage: boolean
  deprecated?: boolean
  deprecationWarning?: string
  schema?: { openAPIV3Schema?: Schema }
  subresources?: { status?: Record<string, never>; scale?: CrdScale }
  additionalPrinterColumns?: CrdColumn[]
  selectableFields?: { jsonPath: string }[]
}

export interface CrdConversion {
  strategy: string
  webhook?: {
    clientConfig?: {
      url?: string
      service?: { namespace?: string; name?: string; path?: string; port?: number }
      caBundle?: string
    }
    conversionReviewVersions?: string[]
  }
}

export interface CrdSpec {
  group: string
  names: CrdNames
  scope: string
  versions: CrdVersion[]
  conversion?: CrdConversion
  preserveUnknownFields?: boolean
}

interface CrdStatus {
  conditions?: Condition[] | null
  acceptedNames?: CrdNames
  storedVersions?: string[] | null
}

export interface Crd extends KubeObject {
  spec: CrdSpec
  status?: CrdStatus
}

export const CRD_GROUP = 'apiextensions.k8s.io'

/** Typed decoding has given the object this shape. */
export const asCrd = (object: KubeObject): Crd => object as Crd

export const crdCondition = (crd: Crd, type: string): boolean => isConditionTrue(crd.status?.conditions ?? undefined, type)

export const storageVersionOf = (spec: CrdSpec): string => (spec.versions ?? []).find((v) => v.storage)?.name ?? ''

export const schemaOf = (version: CrdVersion): Schema => version.schema?.openAPIV3Schema ?? {}
