/**
 * Stands in for the services of a module while its declarations are listed: access rules, references and documents need the
 * names, watches and writes of controllers, but no service. A declaration may refer to a service (close over it, pass it on)
 * but must not use it, because listing would then depend on a running system. The error says where it was used.
 */

/** Every property is another reference; calling, changing or enumerating one is an error that names it. */
export function unconnected<T extends object>(path: string): T {
  const refuse = (how: string): never => {
    throw new Error(`${path} is ${how} while declarations are listed: use services inside observe, keys, effects and signals only`)
  }
  const parts = new Map<string | symbol, unknown>()
  return new Proxy((() => undefined) as unknown as T, {
    get(_target, property) {
      if (typeof property === 'symbol') return undefined
      if (!parts.has(property)) parts.set(property, unconnected(`${path}.${property}`))
      return parts.get(property)
    },
    apply: () => refuse('called'),
    set: () => refuse('changed'),
    deleteProperty: () => refuse('changed'),
    has: () => refuse('enumerated'),
    ownKeys: () => refuse('enumerated'),
  })
}
