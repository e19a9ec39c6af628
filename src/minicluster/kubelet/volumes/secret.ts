/** secret: the keys of a Secret as files, which are updated with it. */

import { secretBytes } from '../../../kinds/kubernetes/secret-data.ts'
import { type VolumeDriver, waiting } from '../../../runtime/seams/volume-driver.ts'
import { payloadOf } from './payload.ts'

export const secret: VolumeDriver = {
  field: 'secret',
  sources: ({ secret: source }) => [{ kind: 'Secret', name: source?.secretName ?? '' }],
  plan({ secret: source = {} }, context) {
    const name = source.secretName ?? ''
    const found = context.secret(name)
    if (found === undefined && source.optional !== true) return waiting(`secret "${name}" not found`)
    const choice = { ...source, what: 'secret' }
    const payload = found === undefined ? { files: [] } : payloadOf(secretBytes(found), choice)
    if ('problem' in payload) return waiting(payload.problem.replace('config key', 'secret key'))
    return { kind: 'files', version: `${found?.metadata.uid}/${found?.metadata.resourceVersion}`, files: () => payload.files }
  },
}
