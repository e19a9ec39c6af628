export { createProcessMachine, type ProcessMachine, type ProcessMachineOptions } from './machine.ts'
export { memberConnections } from './node-connections.ts'
