/**
 * Label selectors inside our kinds: read as Kubernetes reads them, with its messages and, where they do not say it, what to
 * do. This holds for selectors of attributes as well, which are label selectors by their definition: attributes are free
 * texts, but a selector can only demand what could be a label.
 */
import { type FieldError, index, invalid, omittedValue } from '../../../kube/field-error.ts'
import { type LabelSelectorObject, validateLabelSelector } from '../../../kube/selector.ts'
import { quoted } from '../annotations.ts'
import { MOST_ENTRIES } from '../limits.ts'
import { countErrors } from './text-rules.ts'

/** `advice` is added to what is wrong with keys and values. */
export function selectorErrors(path: string, selector: LabelSelectorObject | undefined, advice = ''): FieldError[] {
  const tooMany = sizeErrors(path, selector ?? {})
  return tooMany.length > 0 ? tooMany : validateLabelSelector(selector, path).map((error) => withAdvice(error, advice))
}

/** A selector without demands selects everything, which is hardly ever what its author meant. */
export const isEmptySelector = ({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): boolean =>
  Object.keys(matchLabels).length === 0 && matchExpressions.length === 0

function sizeErrors(path: string, { matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): FieldError[] {
  return [
    ...countErrors(`${path}.matchLabels`, Object.keys(matchLabels).length, MOST_ENTRIES),
    ...countErrors(`${path}.matchExpressions`, matchExpressions.length, MOST_ENTRIES),
    ...matchExpressions
      .slice(0, MOST_ENTRIES)
      .flatMap(({ values = [] }, i) => countErrors(`${index(`${path}.matchExpressions`, i)}.values`, values.length, MOST_ENTRIES)),
  ]
}

function withAdvice(error: FieldError, advice: string): FieldError {
  if (error.type !== 'Invalid') return error
  if (error.field.endsWith('.operator')) return invalid(error.field, error.value, `${error.detail}: use In, NotIn, Exists or DoesNotExist`)
  return shortened(advice === '' ? error : { ...error, detail: `${error.detail}; ${advice}` })
}

/** The value is the author's own text: shown, but not at any length. */
function shortened(error: FieldError): FieldError {
  const { value } = error
  return typeof value === 'string' && value.length > 256
    ? { ...error, value: omittedValue, detail: `${quoted(value)}: ${error.detail}` }
    : error
}
