/** Consent: grants of the namespaces with data, for some, for one dataset, or about something else; changed and withdrawn. */
import type { Random } from '../../../base/random.ts'
import { ReferenceGrant } from '../../../kinds/gateway/reference-grant.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { CLAIMED, DEMO, isFor, metadataOf, oneOf, TEAM, WEB } from './drawing.ts'

const KIND = { group: 'data.fluid.io', kind: 'Dataset' }

interface Consent {
  from: readonly string[]
  /** Of one dataset (default: of all). */
  name?: string
  kind: string
}

const drawConsent = (random: Random): Consent => ({
  from: oneOf(random, [[WEB], [WEB, CLAIMED, TEAM], [CLAIMED], [TEAM]]),
  ...(random.next() < 0.3 ? { name: oneOf(random, [DEMO, 'asked']) } : {}),
  // Of another kind it opens and closes nothing.
  kind: random.next() < 0.9 ? KIND.kind : 'AlluxioRuntime',
})

function grantOf(where: string, desired: unknown): KubeObject {
  const { from, name, kind } = desired as Consent
  return {
    apiVersion: 'gateway.networking.k8s.io/v1beta1',
    kind: 'ReferenceGrant',
    metadata: metadataOf(where),
    spec: {
      from: from.map((namespace) => ({ ...KIND, namespace })),
      to: [{ ...KIND, kind, ...(name === undefined ? {} : { name }) }],
    },
  }
}

export const grants: Generator = {
  name: 'grant for references',
  resource: ReferenceGrant.resource,
  names: ['default/consent', 'default/more-consent', `${CLAIMED}/consent`],
  isFor,
  draw: drawConsent,
  object: grantOf,
}
