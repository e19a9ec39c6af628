export { createProcessMachine, type ProcessMachine, type ProcessMachineOptions } from './machine.ts'
