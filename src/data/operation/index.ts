/** The controllers of all data operations. */
import type { Controller } from '../../runtime/controller.ts'
import { dataBackupController } from './backup/controller.ts'
import { dataLoadController } from './load/controller.ts'
import { dataMigrateController } from './migrate/controller.ts'
import { dataProcessController } from './process/controller.ts'

export const operationControllers: readonly Controller[] = [
  dataLoadController,
  dataMigrateController,
  dataBackupController,
  dataProcessController,
]
