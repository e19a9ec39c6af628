/** configMap: the keys of a ConfigMap as files, which are updated with it. */
import { type VolumeDriver, waiting } from '../../../runtime/seams/volume-driver.ts'
import { dataOfConfigMap, payloadOf } from './payload.ts'

export const configMap: VolumeDriver = {
  field: 'configMap',
  sources: ({ configMap: source }) => [{ kind: 'ConfigMap', name: source?.name ?? '' }],
  plan({ configMap: source = {} }, context) {
    const name = source.name ?? ''
    const found = context.configMap(name)
    if (found === undefined && source.optional !== true) return waiting(`configmap "${name}" not found`)
    const choice = { ...source, what: 'configmap' }
    const check = payloadOf(found === undefined ? new Map() : keysOnly(found), { ...choice, optional: source.optional })
    if (found !== undefined && 'problem' in check) return waiting(check.problem)
    const version = `${found?.metadata.uid}/${found?.metadata.resourceVersion}`
    return {
      kind: 'files',
      version,
      files() {
        const payload = found === undefined ? { files: [] } : payloadOf(dataOfConfigMap(found), choice)
        return 'files' in payload ? payload.files : []
      },
    }
  },
}

const NOTHING = new Uint8Array()

/** Enough to see whether every chosen key is there, without decoding anything. */
const keysOnly = (found: { data?: object; binaryData?: object }): ReadonlyMap<string, Uint8Array> =>
  new Map([...Object.keys(found.data ?? {}), ...Object.keys(found.binaryData ?? {})].map((key) => [key, NOTHING]))
