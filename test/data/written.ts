/** Every version of the objects of a resource that is stored from now on, for stories about what must never be seen in between. */
import { readUtf8 } from '../../src/base/byte-text.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'
import type { ClusterStore } from '../../src/store/index.ts'

/** Returns a function that stops, and gives what was written. */
export function noteWritesOf<T extends KubeObject>(store: ClusterStore, { kind }: Resource<T>): () => T[] {
  const written: T[] = []
  const stop = store.watch('', {
    after: store.revision,
    onEvent({ type, version }) {
      const object = JSON.parse(readUtf8(version.text)) as KubeObject
      if (type === 'put' && object.kind === kind) written.push(object as T)
    },
  })
  return () => {
    stop()
    return written
  }
}
