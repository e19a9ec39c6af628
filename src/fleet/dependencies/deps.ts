/** What the room of the dependencies is given. */

import type { Templates } from '../../runtime/templates.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'

export interface DependenciesDeps {
  templates: Templates
  interpreter: Interpreter
}
