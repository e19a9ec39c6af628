/** Keeps the configurable layers of an interpreter in step with the hub's customizations and webhook configurations. */
import type { Caches } from '../../client/cache/caches.ts'
import type { Informer } from '../../client/cache/informer.ts'
import type { ResourceInterpreterCustomization, ResourceInterpreterWebhookConfiguration } from '../../kinds/karmada/index.ts'
import { RESOURCE_INTERPRETER_CUSTOMIZATIONS, RESOURCE_INTERPRETER_WEBHOOK_CONFIGURATIONS } from '../../kinds/karmada/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ConfigurableInterpreter } from './index.ts'

/** Resolves when the existing rules are in use: until then the interpreter must not be used. */
export async function followCustomizations(caches: Caches, interpreter: ConfigurableInterpreter): Promise<void> {
  await Promise.all([
    follow(caches.of(RESOURCE_INTERPRETER_CUSTOMIZATIONS), (all) =>
      interpreter.useCustomizations(all as ResourceInterpreterCustomization[]),
    ),
    follow(caches.of(RESOURCE_INTERPRETER_WEBHOOK_CONFIGURATIONS), (all) =>
      interpreter.useWebhooks(all as ResourceInterpreterWebhookConfiguration[]),
    ),
  ])
}

/** Rules are few and change rarely: all of them are processed on every change, once the first list is complete. */
async function follow(informer: Informer, use: (all: KubeObject[]) => void): Promise<void> {
  informer.subscribe(() => {
    if (informer.hasSynced) use(informer.list())
  })
  await informer.synced()
  use(informer.list())
}
