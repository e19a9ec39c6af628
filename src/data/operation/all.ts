/**
 * All controllers of data operations and flows. They are not in the list of the module yet, where an operation says that nobody
 * carries it out: docs/design/0016-operations.md says what is missing.
 */
import { OPERATIONS } from '../../kinds/fluid/operation.ts'
import type { Controller } from '../../runtime/controller.ts'
import { operationController } from './controller.ts'
import { flowControllers } from './flow/index.ts'
import type { OperationDeps } from './observe.ts'

const NAMES: Readonly<Record<string, string>> = { DataLoad: 'load', DataMigrate: 'migrate', DataBackup: 'backup', DataProcess: 'process' }

export const carryingControllers = (deps: OperationDeps): readonly Controller[] => [
  ...OPERATIONS.map((resource) => operationController(`data.operation.${NAMES[resource.kind]}`, resource, deps)),
  ...flowControllers(deps),
]
