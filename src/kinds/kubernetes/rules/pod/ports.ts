/** Ports of containers: numbers, names, protocols, and that no two ask for the same port of the host. */
import { duplicate, type FieldError, invalid, required } from '../../../../kube/field-error.ts'
import { checkPortName } from '../../../../kube/names.ts'
import { boolean, type Fields, number, objects, string } from '../fields.ts'
import { portNumberErrors } from '../formats.ts'
import { appendAll, invalidEach, unsupported } from './errors.ts'

const PROTOCOLS = ['SCTP', 'TCP', 'UDP']

export function validatePorts(path: string, container: Fields): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  objects(container, 'ports').forEach((port, i) => {
    const at = `${path}[${i}]`
    const [name, containerPort, hostPort, protocol] = [
      string(port, 'name'),
      number(port, 'containerPort'),
      number(port, 'hostPort'),
      string(port, 'protocol'),
    ]
    if (name !== '') {
      const problems = checkPortName(name)
      appendAll(errors, invalidEach(`${at}.name`, name, problems))
      if (problems.length === 0 && names.has(name)) errors.push(duplicate(`${at}.name`, name))
      else if (problems.length === 0) names.add(name)
    }
    if (containerPort === 0) errors.push(required(`${at}.containerPort`))
    else appendAll(errors, portNumberErrors(`${at}.containerPort`, containerPort))
    if (hostPort !== 0) appendAll(errors, portNumberErrors(`${at}.hostPort`, hostPort))
    if (protocol === '') errors.push(required(`${at}.protocol`))
    else if (!PROTOCOLS.includes(protocol)) errors.push(unsupported(`${at}.protocol`, protocol, PROTOCOLS))
  })
  return errors
}

export function hostPortErrors(path: string, containers: readonly Fields[]): FieldError[] {
  const errors: FieldError[] = []
  const taken = new Set<string>()
  containers.forEach((container, i) => {
    objects(container, 'ports').forEach((port, j) => {
      const hostPort = number(port, 'hostPort')
      if (hostPort === 0) return
      const key = `${string(port, 'protocol')}/${string(port, 'hostIP')}/${hostPort}`
      if (taken.has(key)) errors.push(duplicate(`${path}[${i}].ports[${j}].hostPort`, key))
      taken.add(key)
    })
  })
  return errors
}

/** On the host's network a container port is a host port; a template may still omit it. */
export function hostNetworkPortErrors(path: string, spec: Fields, isPod: boolean): FieldError[] {
  if (!boolean(spec, 'hostNetwork')) return []
  return objects(spec, 'containers').flatMap((container, i) =>
    objects(container, 'ports').flatMap((port, j) => {
      const [hostPort, containerPort] = [number(port, 'hostPort'), number(port, 'containerPort')]
      if (hostPort === containerPort || (!isPod && hostPort === 0)) return []
      const at = `${path}.containers[${i}].ports[${j}].hostPort`
      return [invalid(at, hostPort, 'must match `containerPort` when `hostNetwork` is true')]
    }),
  )
}
