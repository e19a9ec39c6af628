/** Environment variables of a container: their names, and where their values come from. */
import { type FieldError, invalid, required } from '../../../../kube/field-error.ts'
import { checkConfigMapKey, checkDns1123Label, checkRelaxedEnvVarName, nameIsDnsSubdomain } from '../../../../kube/names.ts'
import { type Fields, maybeObject, objects, string } from '../fields.ts'
import { ENV_FIELDS, fieldRefErrors, resourceFieldRefErrors } from './downward.ts'
import { appendAll, invalidEach } from './errors.ts'
import { backstepErrors } from './volume-paths.ts'

const SOURCES: Readonly<Record<string, (path: string, source: Fields) => FieldError[]>> = {
  fieldRef: (path, source) => fieldRefErrors(path, source, ENV_FIELDS),
  resourceFieldRef: (path, source) => resourceFieldRefErrors(path, source, false),
  configMapKeyRef: keySelectorErrors,
  secretKeyRef: keySelectorErrors,
  fileKeyRef: fileKeyErrors,
}

export function validateEnv(path: string, container: Fields): FieldError[] {
  return objects(container, 'env').flatMap((variable, i) => {
    const at = `${path}[${i}]`
    const name = string(variable, 'name')
    return [
      ...(name === '' ? [required(`${at}.name`)] : invalidEach(`${at}.name`, name, checkRelaxedEnvVarName(name))),
      ...valueFromErrors(`${at}.valueFrom`, variable),
    ]
  })
}

function valueFromErrors(path: string, variable: Fields): FieldError[] {
  const valueFrom = maybeObject(variable, 'valueFrom')
  if (valueFrom === undefined) return []
  const errors: FieldError[] = []
  let count = 0
  for (const [key, check] of Object.entries(SOURCES)) {
    const source = maybeObject(valueFrom, key)
    if (source === undefined) continue
    count++
    appendAll(errors, check(`${path}.${key}`, source))
  }
  if (count === 0) {
    const detail = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
    errors.push(invalid(path, '', detail))
  } else if (string(variable, 'value') !== '') errors.push(invalid(path, '', 'may not be specified when `value` is not empty'))
  else if (count > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
  return errors
}

/** ConfigMaps and Secrets follow the same rules, both under the name check of Secrets. */
function keySelectorErrors(path: string, selector: Fields): FieldError[] {
  const [name, key] = [string(selector, 'name'), string(selector, 'key')]
  return [
    ...invalidEach(`${path}.name`, name, nameIsDnsSubdomain(name, false)),
    ...(key === '' ? [required(`${path}.key`)] : invalidEach(`${path}.key`, key, checkConfigMapKey(key))),
  ]
}

function fileKeyErrors(path: string, selector: Fields): FieldError[] {
  const [key, volume, file] = [string(selector, 'key'), string(selector, 'volumeName'), string(selector, 'path')]
  return [
    ...(key === '' ? [required(`${path}.key`)] : invalidEach(`${path}.key`, key, checkRelaxedEnvVarName(key))),
    ...(volume === '' ? [required(`${path}.volumeName`)] : invalidEach(`${path}.volumeName`, volume, checkDns1123Label(volume))),
    ...(file === '' ? [required(`${path}.path`)] : backstepErrors(`${path}.path`, file)),
  ]
}

export function validateEnvFrom(path: string, container: Fields): FieldError[] {
  return objects(container, 'envFrom').flatMap((source, i) => {
    const at = `${path}[${i}]`
    const prefix = string(source, 'prefix')
    const errors = prefix === '' ? [] : invalidEach(`${at}.prefix`, prefix, checkRelaxedEnvVarName(prefix))
    let count = 0
    for (const key of ['configMapRef', 'secretRef']) {
      const ref = maybeObject(source, key)
      if (ref === undefined) continue
      count++
      const name = string(ref, 'name')
      appendAll(
        errors,
        name === '' ? [required(`${at}.${key}.name`)] : invalidEach(`${at}.${key}.name`, name, nameIsDnsSubdomain(name, true)),
      )
    }
    if (count === 0) errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'))
    else if (count > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
    return errors
  })
}
