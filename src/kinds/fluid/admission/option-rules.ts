/** Options of sources: each is given once at its level, and one from a Secret says from which. */
import { child, type FieldError, index, invalid, omittedValue, required } from '../../../kube/field-error.ts'
import { checkConfigMapKey, checkDns1123Subdomain } from '../../../kube/names.ts'
import { quoted } from '../../volcano/annotations.ts'
import type { EncryptOption } from '../index.ts'

interface Level {
  path: string
  /** The names of the two fields. */
  options: string
  encrypted: string
}

/** A mount may give again what all mounts share: there is one winner. At one level there is none. */
export function ownOptionErrors(
  { path, options: plainField, encrypted: encryptedField }: Level,
  options: Record<string, string> = {},
  encrypted: readonly EncryptOption[] = [],
): FieldError[] {
  const seen = new Set<string>()
  return encrypted.flatMap((option, i) => {
    const at = index(child(path, encryptedField), i)
    const field = child(at, 'name')
    const isTwice = seen.has(option.name)
    seen.add(option.name)
    if (isTwice) return [invalid(field, omittedValue, `the option ${quoted(option.name)} is given twice in ${encryptedField}: remove one`)]
    if (Object.hasOwn(options, option.name))
      return [invalid(field, omittedValue, `the option ${quoted(option.name)} is given in ${plainField} as well: remove one of the two`)]
    return secretErrors(child(at, 'valueFrom', 'secretKeyRef'), option)
  })
}

/** It becomes a part of the path of a file. Without one, whoever reads the option says that it is missing. */
function keyErrors(field: string, key: string): FieldError[] {
  if (key === '' || checkConfigMapKey(key).length === 0) return []
  return [invalid(field, omittedValue, `${quoted(key)} cannot be a key of a Secret: use letters, digits, '-', '_' and '.'`)]
}

function secretErrors(field: string, { name, valueFrom }: EncryptOption): FieldError[] {
  const secret = valueFrom?.secretKeyRef?.name
  if (secret === undefined) return [required(field, `say which Secret has the value of ${quoted(name)}`)]
  const key = valueFrom?.secretKeyRef?.key ?? ''
  if (checkDns1123Subdomain(secret).length === 0) return keyErrors(child(field, 'key'), key)
  return [
    invalid(
      child(field, 'name'),
      omittedValue,
      `${quoted(secret)} cannot be the name of a Secret: use lower case letters, digits, '-' and '.'`,
    ),
  ]
}
