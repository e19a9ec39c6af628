/** How clusters are selected everywhere in Karmada's kinds: by labels, by fields, by name, and by exclusion. */
import { type Static, s } from '../schema/builder.ts'
import { fieldRequirements, labelSelector, strings } from './kube-schemas.ts'

/** The fields, for schemas that include them inline. */
export const clusterAffinityFields = {
  labelSelector: s.optional(labelSelector('Demands on the labels of clusters.')),
  fieldSelector: s.optional(
    s.object(
      { matchExpressions: s.optional(fieldRequirements('Demands on provider, region and zone that must all be fulfilled.')) },
      { description: 'Demands on fields of clusters.' },
    ),
  ),
  clusterNames: s.optional(strings('Clusters by name; empty: all.')),
  exclude: s.optional(strings('Clusters that are left out, whatever else is said.')),
}

export const clusterAffinity = (description: string) => s.object(clusterAffinityFields, { description })

export type ClusterAffinity = Static<ReturnType<typeof clusterAffinity>>
