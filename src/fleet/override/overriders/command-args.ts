/** Commands and arguments of the containers with one name. */
import type { CommandArgsOverrider } from '../../../kinds/karmada/index.ts'
import { fieldAt } from '../../../kube/fields.ts'
import { withContainers } from './containers.ts'
import type { Override } from './overrider.ts'

export const overrideCommand: Override<CommandArgsOverrider> = (object, overrider) => overrideTexts(object, 'command', overrider)
export const overrideArgs: Override<CommandArgsOverrider> = (object, overrider) => overrideTexts(object, 'args', overrider)

function overrideTexts(object: Parameters<typeof withContainers>[0], field: 'command' | 'args', overrider: CommandArgsOverrider) {
  const { containerName, operator, value = [] } = overrider
  return withContainers(object, (container) => {
    if (container.name !== containerName) return container
    const found = fieldAt(container, field)
    const old: unknown[] = Array.isArray(found) ? found : []
    return { ...container, [field]: operator === 'add' ? [...old, ...value] : old.filter((text) => !value.includes(String(text))) }
  })
}
