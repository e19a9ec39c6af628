/**
 * A Cluster makes the hub send the tokens of its Secrets to its address. So whoever says which Secrets, or to where and how,
 * must be allowed to read them; what else changes about a Cluster needs no such right. Whether a Secret exists is not looked
 * at, and so not told.
 */
import { deepEqual } from '../../../base/json.ts'
import { child, type FieldError, forbidden } from '../../../kube/field-error.ts'
import type { AdmissionContext } from '../../admission.ts'
import type { Cluster, ClusterSpec } from '../cluster.ts'

const REFERENCES = ['secretRef', 'impersonatorSecretRef'] as const

/** Which tokens go where, and who could read them on the way. */
const DECISIVE = [
  ...REFERENCES,
  'syncMode',
  'apiEndpoint',
  'insecureSkipTLSVerification',
  'proxyURL',
  'proxyHeader',
] as const satisfies readonly (keyof ClusterSpec)[]

export async function credentialErrors(
  { spec }: Cluster,
  old: Cluster | undefined,
  { authorMay }: Pick<AdmissionContext, 'authorMay'>,
): Promise<FieldError[]> {
  if (old !== undefined && DECISIVE.every((field) => deepEqual(spec[field], old.spec?.[field]))) return []
  const errors = await Promise.all(
    REFERENCES.map(async (field) => {
      const { namespace, name } = spec[field] ?? {}
      // A reference that is not complete is refused for that.
      if (!namespace || !name) return []
      const may = await authorMay({ verb: 'get', group: '', resource: 'secrets', namespace, name })
      const why = `only who may read Secret ${namespace}/${name} may decide where its token is sent`
      return may ? [] : [forbidden(child('spec', field), why)]
    }),
  )
  return errors.flat()
}
