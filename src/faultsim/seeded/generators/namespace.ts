/** Namespaces: deleted with their contents, and created again under the same name. */

import { NAMESPACES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'

export const namespaces: Generator = {
  name: 'namespace',
  resource: NAMESPACES,
  names: ['team-a', 'team-b'],
  draw: () => ({}),
  object: (where): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: where } }),
  change: () => undefined,
  wrong: (object) => ((object.status as { phase?: string } | undefined)?.phase === 'Active' ? undefined : 'is not active'),
}
