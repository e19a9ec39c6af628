/** downwardAPI: fields of the pod itself as files, which are updated with it. */
import { type VolumeDriver, waiting } from '../../../runtime/seams/volume-driver.ts'
import { downwardPayload } from './payload.ts'

export const downwardApi: VolumeDriver = {
  field: 'downwardAPI',
  plan({ downwardAPI: source = {} }, context) {
    const payload = downwardPayload(source.items, source.defaultMode, context)
    if ('problem' in payload) return waiting(payload.problem)
    const version = JSON.stringify(payload.files.map(({ path, content }) => [path, Buffer.from(content).toString()]))
    return { kind: 'files', version, files: () => payload.files }
  },
}
