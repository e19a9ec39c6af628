/** What the parts of the gate share: which templates a claim concerns, who makes what, and which claims wait for it. */
import { RESOURCE_BINDINGS } from '../kinds/karmada/resources.ts'
import { DATA_SOURCE_CLAIMS } from '../kinds/volcano/resources.ts'
import type { ModuleEnv } from '../runtime/module/env.ts'
import type { Templates } from '../runtime/templates.ts'
import { createWaitingClaims, type WaitingClaims } from './claim/deps.ts'
import { registerGateMetrics } from './metrics.ts'
import { type ClaimedTemplates, createClaimedTemplates } from './narrowing/claimed-templates.ts'
import { createProducers, type ProducerIndex } from './output/producers.ts'

export interface GateServices {
  templates: Templates
  producers: ProducerIndex
  claimed: ClaimedTemplates
  waiting: WaitingClaims
}

export function gateServices({ caches, templates, registry }: Pick<ModuleEnv, 'caches' | 'templates' | 'registry'>): GateServices {
  const claims = caches.of(DATA_SOURCE_CLAIMS)
  if (registry !== undefined) registerGateMetrics(registry, { claims, bindings: caches.of(RESOURCE_BINDINGS) })
  return {
    templates,
    producers: createProducers(templates),
    claimed: createClaimedTemplates(templates, claims),
    waiting: createWaitingClaims(claims),
  }
}
