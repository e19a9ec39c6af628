/** A reader over plain maps, for the tests of this folder: returns the objects that were put, by resource, namespace and name. */
import type { AdmissionReader } from '../../kinds/admission.ts'
import type { KubeObject } from '../../kube/meta.ts'

interface Of {
  group: string
  resource: string
}

export interface MemoryReader {
  reader: AdmissionReader
  put(of: Of, object: KubeObject): void
  remove(of: Of, namespace: string, name: string): void
}

export function memoryReader(): MemoryReader {
  const objects = new Map<string, KubeObject>()
  const key = (of: Of, namespace: string, name: string) => `${of.group}/${of.resource}/${namespace}/${name}`
  return {
    put: (of, object) => void objects.set(key(of, object.metadata.namespace ?? '', object.metadata.name ?? ''), object),
    remove: (of, namespace, name) => void objects.delete(key(of, namespace, name)),
    reader: {
      get: (of, namespace, name) => objects.get(key(of, namespace, name)),
      list: (of, namespace) =>
        [...objects]
          .filter(([at]) => at.startsWith(`${of.group}/${of.resource}/${namespace === undefined ? '' : `${namespace}/`}`))
          .map(([, object]) => object),
    },
  }
}
