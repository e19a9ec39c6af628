/** The data of Secrets: base64 on the wire, bytes or text for its users. */
import { fieldAt } from '../../kube/fields.ts'
import type { Secret } from './types.ts'

/** One entry as text; empty where the Secret or the entry is missing. */
export function secretText(secret: object | undefined, key: string): string {
  const value = fieldAt(secret, 'data', key)
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : ''
}

export const secretBytes = ({ data }: Pick<Secret, 'data'>): Map<string, Uint8Array> =>
  new Map(Object.entries(data ?? {}).map(([key, base64]) => [key, Buffer.from(base64, 'base64')]))

export const encodeSecretText = (text: string): string => Buffer.from(text, 'utf8').toString('base64')

export const encodeSecretData = (data: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, encodeSecretText(text)]))
