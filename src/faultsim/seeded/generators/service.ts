/** Services: what they select comes and goes. */

import { SERVICES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { oneOf } from '../script.ts'
import { metadataOf } from './pod-template.ts'

interface Selecting {
  app: string
  port: number
}

const specOf = ({ app, port }: Selecting): Record<string, unknown> => ({
  selector: { app },
  ports: [{ name: 'main', port, protocol: 'TCP' }],
})

export const services: Generator = {
  name: 'service',
  resource: SERVICES,
  names: ['default/front'],
  draw: (random): Selecting => ({ app: oneOf(random, ['web', 'api', 'db']), port: oneOf(random, [80, 8080]) }),
  object: (where, desired): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(where),
    spec: specOf(desired as Selecting),
  }),
  change(object, desired) {
    object.spec = { ...(object.spec as object), ...specOf(desired as Selecting) }
  },
}
