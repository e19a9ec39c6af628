/** Paths inside volumes: relative, without `..`, and without the names that the kubelet reserves. */
import { type FieldError, invalid } from '../../../../kube/field-error.ts'

export const isAbsolutePath = (path: string): boolean => path.startsWith('/')

export const backstepErrors = (field: string, path: string): FieldError[] =>
  path.split('/').includes('..') ? [invalid(field, path, "must not contain '..'")] : []

/** validateLocalDescendingPath. */
export const descendingPathErrors = (field: string, path: string): FieldError[] => [
  ...(isAbsolutePath(path) ? [invalid(field, path, 'must be a relative path')] : []),
  ...backstepErrors(field, path),
]

/** ValidateLocalNonReservedPath: names that begin with two dots are reserved for the kubelet's atomic writer. */
export const localPathErrors = (field: string, path: string): FieldError[] => [
  ...descendingPathErrors(field, path),
  ...(path.startsWith('..') && !path.startsWith('../') ? [invalid(field, path, "must not start with '..'")] : []),
]
