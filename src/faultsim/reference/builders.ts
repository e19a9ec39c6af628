/** Objects of the reference kinds. `where` is `namespace/name`. */
import type { KubeObject } from '../../kube/meta.ts'
import type { Greeting } from './kinds.ts'

export const aGreeting = (where: string, spec: Greeting['spec'] = {}): KubeObject => ({
  apiVersion: 'example.sluice.dev/v1',
  kind: 'Greeting',
  metadata: metadataOf(where),
  spec: { text: 'hello', ...spec },
})

export const aCard = (where: string): KubeObject => ({ apiVersion: 'example.sluice.dev/v1', kind: 'Card', metadata: metadataOf(where) })

function metadataOf(where: string): KubeObject['metadata'] {
  const [namespace, name] = where.split('/')
  return { namespace, name }
}
