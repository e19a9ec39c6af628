/** What the room of the dependencies is given. */
import type { Interpreter } from '../interpreter/interpreter.ts'
import type { Templates } from '../templates.ts'

export interface DependenciesFacts {
  templates: Templates
  interpreter: Interpreter
}
