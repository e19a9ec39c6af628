/** An interpreter with the native layer alone, for tests of the controllers that use one. */
import type { Interpreter, KindRules, Operation } from './interpreter.ts'
import { RULE_OF } from './interpreter.ts'
import { nativeLayer } from './native/index.ts'

export function nativeInterpreter(): Interpreter {
  const layer = nativeLayer()
  function rule<Name extends keyof KindRules>(name: Name, { apiVersion = '', kind = '' }: { apiVersion?: string; kind?: string }) {
    const found = layer.rulesOf(apiVersion, kind)?.[name]
    if (found === undefined) throw new Error(`no native rule ${name} for ${apiVersion} ${kind}`)
    return found
  }
  return {
    has: ({ apiVersion, kind }, operation: Operation) => layer.rulesOf(apiVersion, kind)?.[RULE_OF[operation]] !== undefined,
    replicas: async (object) => rule('replicas', object)(object),
    components: async (object) => rule('components', object)(object),
    revise: async (object, replicas) => rule('revise', object)(object, replicas),
    retain: async (desired, observed) => rule('retain', desired)(desired, observed),
    aggregate: async (template, items) => rule('aggregate', template)(template, items),
    dependencies: async (object) => rule('dependencies', object)(object),
    reflect: async (object) => rule('reflect', object)(object),
    health: async (object) => rule('health', object)(object),
    onChange: () => () => undefined,
  }
}
