/** Whether an operation may wait for one of another namespace: the owner of that namespace decides (law 10). */
import { DATA_GROUP } from '../../kinds/fluid/groups.ts'
import type { OperationName } from '../../kinds/fluid/operation.ts'
import { type ConsentSource, isPermitted } from '../../runtime/reference-consent.ts'

export const mayWaitFor = (of: OperationName, before: OperationName, source: ConsentSource): boolean =>
  isPermitted(
    { group: DATA_GROUP, kind: of.kind, namespace: of.namespace },
    { group: DATA_GROUP, kind: before.kind, namespace: before.namespace, name: before.name },
    source,
  )
