/**
 * The layer of ResourceInterpreterCustomizations. For each operation on a kind the first customization by name that has a
 * script decides; dependencies are those that any of them names. Building it compiles nothing.
 */

import { type ResourceInterpreterCustomization, SCRIPT_OF_OPERATION } from '../../../kinds/karmada/resource-interpreter-customization.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import type { GroupVersionKind } from '../../../kube/object-reference.ts'
import { type KindRules, type Layer, OPERATIONS, type Operation } from '../interpreter.ts'
import { FUNCTION_OF, type KindScripts, luaRules } from '../lua/kind-rules.ts'
import type { CallOptions } from '../lua/script.ts'
import type { CallableScript, ScriptCache } from '../lua/script-cache.ts'

/** The scripts for one kind; equal content means equal rules. */
interface KindSources {
  apiVersion: string
  kind: string
  scripts: Map<Operation, string[]>
}

export interface CustomizationLayer extends Layer {
  /** The kinds it has rules for, each with a text that changes when the rules do. */
  readonly kinds: ReadonlyMap<string, { apiVersion: string; kind: string; content: string }>
}

export function customizationLayer(
  customizations: readonly ResourceInterpreterCustomization[],
  cache: ScriptCache,
  options: CallOptions,
): CustomizationLayer {
  const sources = sourcesByKind(customizations)
  const rules = new Map<string, KindRules>()
  const kinds = new Map<string, { apiVersion: string; kind: string; content: string }>()
  for (const [key, { apiVersion, kind, scripts }] of sources) {
    rules.set(key, luaRules(kindScripts(scripts, cache), options))
    kinds.set(key, { apiVersion, kind, content: JSON.stringify([...scripts]) })
  }
  cache.forgetUnused()
  return { kinds, rulesOf: (apiVersion, kind) => rules.get(kindKey(apiVersion, kind)) }
}

const kindKey = (apiVersion: string, kind: string): string => `${apiVersion} ${kind}`

function sourcesByKind(customizations: readonly ResourceInterpreterCustomization[]): Map<string, KindSources> {
  const byKind = new Map<string, KindSources>()
  const byName = [...customizations].sort((a, b) => compareStrings(a.metadata.name ?? '', b.metadata.name ?? ''))
  for (const { spec } of byName) {
    const { apiVersion, kind } = spec.target
    const key = kindKey(apiVersion, kind)
    const sources = byKind.get(key) ?? { apiVersion, kind, scripts: new Map<Operation, string[]>() }
    byKind.set(key, sources)
    for (const operation of OPERATIONS) {
      const source = scriptOf(spec.customizations, operation)
      if (source === undefined) continue
      const known = sources.scripts.get(operation)
      if (known === undefined) sources.scripts.set(operation, [source])
      else if (operation === 'InterpretDependency') known.push(source)
    }
  }
  return byKind
}

/** The script of an operation; an empty one is none. */
export function scriptOf(
  customizations: ResourceInterpreterCustomization['spec']['customizations'],
  operation: Operation,
): string | undefined {
  const name = SCRIPT_OF_OPERATION[operation]
  const source = name === undefined ? undefined : customizations[name]?.luaScript
  return source === '' ? undefined : source
}

function kindScripts(sources: ReadonlyMap<Operation, readonly string[]>, cache: ScriptCache): KindScripts {
  const scripts: Partial<Record<Operation, CallableScript | CallableScript[]>> = {}
  for (const [operation, texts] of sources) {
    const compiled = texts.map((text) => cache.script(text, FUNCTION_OF[operation]))
    scripts[operation] = operation === 'InterpretDependency' ? compiled : compiled[0]
  }
  return scripts as KindScripts
}

/** The kinds whose rules differ between two states of the layer. */
export function changedKinds(before: CustomizationLayer, after: CustomizationLayer): GroupVersionKind[] {
  const changed: GroupVersionKind[] = []
  for (const [key, { apiVersion, kind, content }] of after.kinds) {
    if (before.kinds.get(key)?.content !== content) changed.push({ apiVersion, kind })
  }
  for (const [key, { apiVersion, kind }] of before.kinds) if (!after.kinds.has(key)) changed.push({ apiVersion, kind })
  return changed
}
