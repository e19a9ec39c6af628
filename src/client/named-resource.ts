/** Which resource a name means: `deployment`, `deployments`, `deploy`, `deployments.apps`, `Deployment`, as kubectl reads them. */
import type { Discovered } from './discovery.ts'

/** The first match in the order in which the server lists its groups; undefined when it has no such resource. */
export function namedResource(resources: readonly Discovered[], text: string): Discovered | undefined {
  const wanted = text.toLowerCase()
  const isNamed = ({ plural, singular, shortNames, kind }: Discovered, name: string): boolean =>
    plural === name || singular === name || kind.toLowerCase() === name || shortNames.includes(name)
  const dot = wanted.indexOf('.')
  const [name, group] = dot < 0 ? [wanted, undefined] : [wanted.slice(0, dot), wanted.slice(dot + 1)]
  return resources.find(
    (one) => isNamed(one, name) && (group === undefined || one.group === group || `${one.version}.${one.group}` === group),
  )
}
