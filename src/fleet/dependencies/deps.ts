/** What the dependency controllers need. */

import type { Templates } from '../../runtime/templates.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'

export interface DependenciesDeps {
  templates: Templates
  interpreter: Interpreter
}
