/** From Works to objects in members, and their status back. */
import type { Controller } from '../../runtime/controller.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'
import { execution } from './controller.ts'

export { workAdmission } from './admission.ts'

export const executionControllers = (deps: { interpreter: Interpreter }): Controller[] => [execution(deps)]
