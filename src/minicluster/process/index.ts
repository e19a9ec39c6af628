export { createProcessMachine, type ProcessMachine } from './machine.ts'
export { memberConnections } from './node-connections.ts'
