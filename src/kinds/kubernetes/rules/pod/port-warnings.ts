/** Ports that are listed twice, overlap, or share a name across containers. */
import { goQuote } from '../../../../kube/go-print.ts'
import { type Fields, number, objects, string } from '../fields.ts'
import { allContainers } from './containers-walk.ts'

interface Placed {
  at: string
  port: Fields
}

/** Ports compared with each other per number and protocol: enough for a warning, and bounded. */
const MAX_CLASHES = 10

export function portWarnings(path: string, spec: Fields): string[] {
  const ports = allContainers(spec, path).flatMap(({ container, path: at }) =>
    objects(container, 'ports').map((port, i) => ({ at: `${at}.ports[${i}]`, port })),
  )
  return [...clashWarnings(ports), ...nameWarnings(ports)]
}

function clashWarnings(ports: readonly Placed[]): string[] {
  const warnings: string[] = []
  const known = new Map<string, Placed[]>()
  for (const { at, port } of ports) {
    if (string(port, 'hostIP') !== '' && number(port, 'hostPort') === 0)
      warnings.push(`${at}: hostIP set without hostPort: ${goPort(port)}`)
    const key = `${number(port, 'containerPort')}/${string(port, 'protocol')}`
    const others = known.get(key) ?? []
    for (const other of others) {
      const clash = clashOf(port, other.port)
      if (clash !== undefined) warnings.push(`${at}: ${clash} port definition with ${other.at}`)
    }
    if (others.length < MAX_CLASHES) known.set(key, [...others, { at, port }])
  }
  return warnings
}

function clashOf(a: Fields, b: Fields): string | undefined {
  const [hostIp, otherIp] = [string(a, 'hostIP'), string(b, 'hostIP')]
  const [hostPort, otherPort] = [number(a, 'hostPort'), number(b, 'hostPort')]
  if (hostIp === otherIp && hostPort === otherPort) return 'duplicate'
  if (hostPort === 0 || otherPort === 0) return 'overlapping'
  return hostPort === otherPort && (hostIp === '') !== (otherIp === '') ? 'dangerously ambiguous' : undefined
}

function nameWarnings(ports: readonly Placed[]): string[] {
  const known = new Map<string, string>()
  return ports.flatMap(({ at, port }) => {
    const name = string(port, 'name')
    if (name === '') return []
    const other = known.get(name)
    if (other === undefined) {
      known.set(name, at)
      return []
    }
    return [`${at}: duplicate port name ${goQuote(name)} with ${other}, services and probes that select ports by name will use ${other}`]
  })
}

/** A port as Go prints the struct with `%+v`. */
const goPort = (port: Fields): string =>
  `{Name:${string(port, 'name')} HostPort:${number(port, 'hostPort')} ContainerPort:${number(port, 'containerPort')} Protocol:${string(port, 'protocol')} HostIP:${string(port, 'hostIP')}}`
