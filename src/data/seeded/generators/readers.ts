/** Pods that read datasets: with the claim, of the dataset itself or by reference from another namespace, and with an injected sidecar. */
import { PODS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { DEMO, isFor, metadataOf, NAMESPACES, readerOf, sidecarPodOf, TEAM } from './drawing.ts'
import { REFERENCES } from './references.ts'

const OWN = NAMESPACES.map((namespace) => `${namespace}/${DEMO}`)
const ofTeam = (where: string): boolean => where.startsWith(`${TEAM}/`)

export function aReaderOf(pod: string): KubeObject {
  const { namespace, name } = metadataOf(pod)
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name },
    spec: {
      containers: [{ name: 'app', image: 'app:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name.replace(/-(reader|sidecar)$/, '') } }],
    },
  }
}

const reading = (name: string, datasets: readonly string[]): Generator => ({
  name,
  resource: PODS,
  names: datasets.map(readerOf),
  isFor,
  draw: () => ({}),
  object: aReaderOf,
  change: () => undefined,
})

const readers = reading('reader of a dataset', OWN)
const byReference = reading(
  'reader by reference',
  REFERENCES.filter((where) => !ofTeam(where)),
)
/** Its namespace comes and goes. */
const inTeam: Generator = { ...reading('reader of a team', REFERENCES.filter(ofTeam)), isContested: true }

/** Refused where the dataset cannot be read yet, or not this way. */
const withSidecar: Generator = {
  ...reading('reader with a sidecar', []),
  names: [...OWN, ...REFERENCES].map(sidecarPodOf),
  isContested: true,
  object(where) {
    const pod = aReaderOf(where)
    return { ...pod, metadata: { ...pod.metadata, labels: { 'serverless.fluid.io/inject': 'true' } } }
  },
}

export const readersOfAllKinds: readonly Generator[] = [readers, byReference, inTeam, withSidecar]
