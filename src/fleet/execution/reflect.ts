/** Status and health of an object in a member, as the rules of its kind read them. */
import { messageOf } from '../../base/error-text.ts'
import { isJsonObject } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'

export type Health = 'Healthy' | 'Unhealthy' | 'Unknown'

export interface Reflection {
  /** Undefined when there is nothing to reflect. */
  status?: Record<string, unknown>
  health: Health
  /** Why the status could not be read; what was reflected before is kept. */
  statusFailure?: string
  healthFailure?: string
}

export async function reflect(object: KubeObject, interpreter: Interpreter): Promise<Reflection> {
  const reflection: Reflection = { health: 'Healthy' }
  try {
    const status = interpreter.has(object, 'InterpretStatus') ? await interpreter.reflect(object) : undefined
    if (isJsonObject(status)) reflection.status = status
  } catch (error) {
    reflection.statusFailure = messageOf(error)
  }
  try {
    if (interpreter.has(object, 'InterpretHealth')) reflection.health = (await interpreter.health(object)) ? 'Healthy' : 'Unhealthy'
  } catch (error) {
    reflection.health = 'Unknown'
    reflection.healthFailure = messageOf(error)
  }
  return reflection
}
