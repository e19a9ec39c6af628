/**
 * The four layers, in order: customizations, webhooks, bundled rules, native rules. For each operation the first layer with
 * a rule answers, and its error is final. The code that watches customizations and webhooks passes them in as they change.
 */
import type { ResourceInterpreterCustomization, ResourceInterpreterWebhookConfiguration } from '../../kinds/karmada/index.ts'
import { type KubeObject, parseGroupVersion } from '../../kube/meta.ts'
import { type CustomizationLayer, changedKinds, customizationLayer } from './configurable/customization-layer.ts'
import {
  type AsyncLayer,
  type ChangeHandler,
  type Interpreter,
  type KindRules,
  type Layer,
  type Operation,
  RULE_OF,
} from './interpreter.ts'
import { ScriptCache } from './lua/script-cache.ts'
import { type WebhookOptions, webhookLayer } from './webhook/webhook-layer.ts'

export interface InterpreterOptions {
  /** The time that scripts see, in milliseconds. */
  now: () => number
  /** Whether scripts see the priority class of pods. Default true. */
  priorityClassName?: boolean
  native: Layer
  /** Default: none. */
  thirdParty?: Layer
  /** Absent: webhooks are not called. */
  webhooks?: WebhookOptions
}

/** An interpreter whose first two layers can be changed. */
export interface ConfigurableInterpreter extends Interpreter {
  useCustomizations(customizations: readonly ResourceInterpreterCustomization[]): void
  useWebhooks(configurations: readonly ResourceInterpreterWebhookConfiguration[]): void
}

type Rule = keyof KindRules
type Answer<R extends Rule> = ReturnType<NonNullable<KindRules[R]>>
type Arguments<R extends Rule> = Parameters<NonNullable<KindRules[R]>>

const NO_LAYER: Layer = { rulesOf: () => undefined }

export function createInterpreter(options: InterpreterOptions): ConfigurableInterpreter {
  const cache = new ScriptCache()
  const handlers = new Set<ChangeHandler>()
  let customizations: CustomizationLayer = customizationLayer([], cache, options)
  let webhooks: AsyncLayer = NO_LAYER as AsyncLayer

  const layers = (): readonly (Layer | AsyncLayer)[] => [customizations, webhooks, options.thirdParty ?? NO_LAYER, options.native]
  const ruleOf = <R extends Rule>(apiVersion: string, kind: string, rule: R) => {
    for (const layer of layers()) {
      const found = layer.rulesOf(apiVersion, kind)?.[rule]
      if (found !== undefined) return found as (...args: Arguments<R>) => Answer<R> | Promise<Answer<R>>
    }
    return undefined
  }
  const ask = async <R extends Rule>(operation: Operation, rule: R, object: KubeObject, ...args: Arguments<R>): Promise<Answer<R>> => {
    const found = ruleOf(object.apiVersion, object.kind, rule)
    if (found === undefined) throw new Error(`default ${operation} interpreter for "${kindText(object)}" not found`)
    return await found(...args)
  }
  const notify: ChangeHandler = (kinds) => {
    for (const handler of handlers) handler(kinds)
  }

  return {
    has: ({ apiVersion, kind }, operation) => ruleOf(apiVersion, kind, RULE_OF[operation]) !== undefined,
    replicas: (object) => ask('InterpretReplica', 'replicas', object, object),
    components: (object) => ask('InterpretComponent', 'components', object, object),
    revise: (object, replicas) => ask('ReviseReplica', 'revise', object, object, replicas),
    retain: (desired, observed) => ask('Retain', 'retain', desired, desired, observed),
    aggregate: (template, items) => ask('AggregateStatus', 'aggregate', template, template, items),
    dependencies: (object) => ask('InterpretDependency', 'dependencies', object, object),
    reflect: (object) => ask('InterpretStatus', 'reflect', object, object),
    health: (object) => ask('InterpretHealth', 'health', object, object),
    onChange(handler) {
      handlers.add(handler)
      return () => handlers.delete(handler)
    },
    useCustomizations(list) {
      const next = customizationLayer(list, cache, options)
      const changed = changedKinds(customizations, next)
      customizations = next
      if (changed.length > 0) notify(changed)
    },
    useWebhooks(configurations) {
      if (options.webhooks === undefined) return
      webhooks = webhookLayer(configurations, options.webhooks)
      // Their rules may have wildcards: any kind may be affected.
      notify(undefined)
    },
  }
}

/** As Go prints a GroupVersionKind. */
function kindText({ apiVersion, kind }: KubeObject): string {
  const { group, version } = parseGroupVersion(apiVersion)
  return `${group}/${version}, Kind=${kind}`
}
