/** `-o json|yaml` of every command that prints something. */
import { stringify } from 'yaml'
import { CommandError } from './machine.ts'

/** Undefined: the human-readable form. */
export function formatted(value: unknown, output: string | undefined): string | undefined {
  if (output === undefined) return undefined
  if (output === 'json') return `${JSON.stringify(value, null, 2)}\n`
  if (output === 'yaml') return stringify(value)
  throw new CommandError(`-o takes json or yaml, not ${JSON.stringify(output)}`)
}
