/** What an interpreter can be asked about a kind, and under which name each question has a script. */
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
