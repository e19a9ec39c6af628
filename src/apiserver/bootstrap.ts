/** Puts the objects every cluster starts with into the store; what is already there, changed or not, is left alone. */
import { formatTime } from '../base/clock.ts'
import { uuid } from '../base/random.ts'
import { bootstrapObjects } from '../kinds/kubernetes/bootstrap.ts'
import { type KubeObject, parseGroupVersion } from '../kube/meta.ts'
import type { ServerContext } from './scope.ts'

export interface BootstrapFacts {
  /** Port of this server, which the `kubernetes` Service points at. */
  port: number
  /** PEM of the authority that client certificates are checked against. */
  clientAuthority: string
}

export async function bootstrapCluster(context: ServerContext, facts: BootstrapFacts): Promise<void> {
  const now = formatTime(context.clock.now())
  const wanted = [...bootstrapObjects({ now, port: facts.port }), extensionAuthentication(facts.clientAuthority)]
  await Promise.all(
    wanted.map(async (object) => {
      const { group, version } = parseGroupVersion(object.apiVersion)
      const served = context.catalog.findKind(group, version, object.kind)
      if (served === undefined || context.objects.get(served, object.metadata.namespace ?? '', object.metadata.name ?? '') !== undefined)
        return
      object.metadata = { ...object.metadata, uid: uuid(context.random), creationTimestamp: now }
      await context.objects.put(served, object, undefined)
    }),
  )
}

/** Where extension API servers look for whom to believe. */
function extensionAuthentication(clientAuthority: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
    data: { 'client-ca-file': clientAuthority },
  }
}
