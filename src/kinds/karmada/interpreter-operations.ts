/** The operations of an interpreter, and the name of the script for each. */
export const INTERPRETER_OPERATIONS = [
  'InterpretReplica',
  'InterpretComponent',
  'ReviseReplica',
  'Retain',
  'AggregateStatus',
  'InterpretDependency',
  'InterpretStatus',
  'InterpretHealth',
  'Prune',
] as const

export type InterpreterOperation = (typeof INTERPRETER_OPERATIONS)[number]
