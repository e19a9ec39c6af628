/** Images of containers, or the one image that a predicate points at. */
import type { ImageOverrider } from '../../../kinds/karmada/index.ts'
import { textAt } from '../../../kube/fields.ts'
import { goQuote } from '../../../kube/go-print.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { overrideImage } from '../image.ts'
import { applyPatch, DoesNotApply, valueAt } from '../json-patch.ts'
import { withContainers } from './containers.ts'
import type { Override } from './overrider.ts'

export const overrideImages: Override<ImageOverrider> = (object, overrider) =>
  overrider.predicate === undefined
    ? withContainers(object, (container) => ({ ...container, image: overrideImage(textAt(container, 'image') ?? '', overrider) }))
    : overrideImageAt(object, overrider.predicate.path, overrider)

function overrideImageAt(object: KubeObject, path: string, overrider: ImageOverrider): KubeObject {
  const image = valueAt(object, path)
  if (typeof image !== 'string') throw new DoesNotApply(`${goQuote(path)}: the field is not a text`)
  return applyPatch(object, [{ operator: 'replace', path, value: overrideImage(image, overrider) }]) as KubeObject
}
