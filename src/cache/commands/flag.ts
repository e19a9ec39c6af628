import { ConfigError } from '../config/fields.ts'
import type { Deps } from './deps.ts'

/** Not set means false. Throws ConfigError. */
export function flag({ env }: Pick<Deps, 'env'>, name: string): boolean {
  const text = env.get(name) ?? ''
  if (text !== '' && text !== 'true' && text !== 'false') throw new ConfigError(`${name} must be true or false`)
  return text === 'true'
}
