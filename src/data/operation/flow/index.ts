/** The controllers of flows, one for each kind of operation. */
import { OPERATIONS } from '../../../kinds/fluid/operation.ts'
import type { Controller } from '../../../runtime/controller.ts'
import { type FlowDeps, flowController } from './controller.ts'

const NAMES: Readonly<Record<string, string>> = { DataLoad: 'load', DataMigrate: 'migrate', DataBackup: 'backup', DataProcess: 'process' }

export const flowControllers = (deps: FlowDeps): readonly Controller[] =>
  OPERATIONS.map((resource) => flowController(`data.operation.flow.${NAMES[resource.kind]}`, resource, deps))
