/**
 * Downward API and projected volumes: several sources in one directory, whose paths must not collide. Cluster trust
 * bundles and pod certificates are behind gates that are off, so they never reach validation.
 */

import { type FieldError, forbidden, invalid, required } from '../../../../kube/field-error.ts'
import { type Fields, maybeNumber, maybeObject, number, objects, string } from '../fields.ts'
import { fieldRefErrors, resourceFieldRefErrors, VOLUME_FIELDS } from './downward.ts'
import { appendAll } from './errors.ts'
import type { PodOptions } from './options.ts'
import { localPathErrors } from './volume-paths.ts'
import { fileModeErrors, keyToPathErrors } from './volume-sources.ts'

const CONFLICT = 'conflicting duplicate paths'

/** Errors of one file carry the path of the whole source, without an index, as in the real server. */
export const downwardApiErrors = (path: string, source: Fields): FieldError[] => [
  ...fileModeErrors(`${path}.defaultMode`, maybeNumber(source, 'defaultMode')),
  ...objects(source, 'items').flatMap((file) => downwardFileErrors(path, file)),
]

function downwardFileErrors(path: string, file: Fields): FieldError[] {
  const errors: FieldError[] = []
  const [fieldRef, resourceRef] = [maybeObject(file, 'fieldRef'), maybeObject(file, 'resourceFieldRef')]
  if (string(file, 'path') === '') errors.push(required(`${path}.path`))
  appendAll(errors, localPathErrors(`${path}.path`, string(file, 'path')))
  if (fieldRef !== undefined) {
    appendAll(errors, fieldRefErrors(`${path}.fieldRef`, fieldRef, VOLUME_FIELDS))
    if (resourceRef !== undefined)
      errors.push(invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'))
  } else if (resourceRef !== undefined) appendAll(errors, resourceFieldRefErrors(`${path}.resourceFieldRef`, resourceRef, true))
  else errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'))
  appendAll(errors, fileModeErrors(`${path}.mode`, maybeNumber(file, 'mode')))
  return errors
}

export function projectedErrors(path: string, source: Fields, options: PodOptions): FieldError[] {
  const errors = fileModeErrors(`${path}.defaultMode`, maybeNumber(source, 'defaultMode'))
  const seen = new Set<string>()
  const claim = (filePath: string, blamed: string): void => {
    if (filePath === '') return
    if (seen.has(filePath)) errors.push(invalid(path, blamed, CONFLICT))
    seen.add(filePath)
  }
  objects(source, 'sources').forEach((part, i) => {
    const at = `${path}.sources[${i}]`
    let count = 0
    for (const key of ['secret', 'configMap']) {
      const keyed = maybeObject(part, key)
      if (keyed === undefined) continue
      count++
      if (string(keyed, 'name') === '') errors.push(required(`${at}.${key}.name`))
      objects(keyed, 'items').forEach((item, j) => {
        appendAll(errors, keyToPathErrors(`${at}.${key}.items[${j}]`, item))
        claim(string(item, 'path'), string(keyed, 'name'))
      })
    }
    const downward = maybeObject(part, 'downwardAPI')
    if (downward !== undefined) {
      count++
      for (const file of objects(downward, 'items')) {
        appendAll(errors, downwardFileErrors(`${at}.downwardAPI`, file))
        claim(string(file, 'path'), string(file, 'path'))
      }
    }
    const token = maybeObject(part, 'serviceAccountToken')
    if (token !== undefined) {
      count++
      appendAll(errors, tokenErrors(path, `${at}.serviceAccountToken`, { token, options }))
    }
    if (count > 1) errors.push(forbidden(at, 'may not specify more than 1 volume type per source'))
  })
  return errors
}

function tokenErrors(path: string, at: string, { token, options }: { token: Fields; options: PodOptions }): FieldError[] {
  const errors: FieldError[] = []
  const [seconds, filePath] = [number(token, 'expirationSeconds'), string(token, 'path')]
  if (seconds < 600) errors.push(invalid(`${at}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes'))
  if (seconds > 2 ** 32) errors.push(invalid(`${at}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds'))
  if (filePath === '') errors.push(required(`${path}.path`))
  else if (!options.allowNonLocalTokenPath) appendAll(errors, localPathErrors(`${path}.path`, filePath))
  return errors
}
