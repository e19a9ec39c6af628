/** All overriders of a rule, in the order in which they are applied. A new one is one file and one line here. */
import type { Overriders } from '../../../kinds/karmada/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { naming } from '../json-patch.ts'
import { overrideArgs, overrideCommand } from './command-args.ts'
import { overrideField } from './field.ts'
import { overrideImages } from './image.ts'
import { overrideAnnotations, overrideLabels } from './labels.ts'
import type { Override } from './overrider.ts'
import { overridePlaintext } from './plaintext.ts'

/** Throws DoesNotApply, whose message names the overrider. */
export function applyOverriders(object: KubeObject, overriders: Overriders): KubeObject {
  let current = object
  const all = <Overrider>(name: keyof Overriders, list: readonly Overrider[] | undefined, override: Override<Overrider>): void => {
    for (const overrider of list ?? []) current = naming(name, () => override(current, overrider))
  }
  all('imageOverrider', overriders.imageOverrider, overrideImages)
  all('commandOverrider', overriders.commandOverrider, overrideCommand)
  all('argsOverrider', overriders.argsOverrider, overrideArgs)
  all('labelsOverrider', overriders.labelsOverrider, overrideLabels)
  all('annotationsOverrider', overriders.annotationsOverrider, overrideAnnotations)
  all('fieldOverrider', overriders.fieldOverrider, overrideField)
  all('plaintext', [overriders.plaintext ?? []], overridePlaintext)
  return current
}
