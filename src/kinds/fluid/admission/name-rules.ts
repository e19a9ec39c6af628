/** Names of datasets and runtimes become parts of names of services, pods and labels, which allow less than names of objects do. */
import { type FieldError, invalid } from '../../../kube/field-error.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { checkDns1035Label } from '../../../kube/names.ts'
import { longestNameOf } from '../names.ts'

export function nameErrors({ kind, metadata: { name = '' } }: KubeObject): FieldError[] {
  const longest = longestNameOf(kind)
  if (longest !== undefined && name.length > longest) return [invalid('metadata.name', name, tooLong(kind, longest))]
  if (checkDns1035Label(name).length === 0) return []
  const advice =
    "begin with a lower case letter, go on with lower case letters, digits and '-', end with a letter or digit, and use at most 63 characters"
  return [invalid('metadata.name', name, `cannot be the name of a ${kind}, because services and labels are named after it: ${advice}`)]
}

const tooLong = (kind: string, longest: number): string =>
  `cannot be the name of a ${kind}, because labels of its pods are made of it: use at most ${longest} characters, for the Dataset and its runtime`
