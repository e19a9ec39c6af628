/**
 * Label selectors as keys of an index, in both directions. Whatever a selector with an equality requirement matches has one
 * of its `equalityKeys` among its own `labelKeys`: so labels find the selectors that may match them, and a selector finds its
 * candidates, without trying all. Selectors without such a requirement have no keys and must be tried each time.
 */
import { type LabelRequirement, type LabelSelector, type LabelSelectorObject, type Labels, selectorFromObject } from './selector.ts'

/** `key=value` of every label. */
export const labelKeys = (labels: Labels): string[] => Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`)

/**
 * `key=value` for each value that one of the equality requirements admits: the requirement with the fewest values, and the
 * first by key among equals. Empty when there is none, or when the selector cannot be read.
 */
export function equalityKeys(selector: LabelSelector | LabelSelectorObject | undefined): readonly string[] {
  const parsed = isParsed(selector) ? selector : selectorFromObject(selector).value
  const [first = [], ...others] = equalitiesOf(parsed ?? [])
  return others.reduce((fewest, keys) => (keys.length < fewest.length ? keys : fewest), first)
}

/** The keys of every equality requirement: `=`, `==` and `in`. */
export const equalitiesOf = (selector: LabelSelector): string[][] => selector.filter(isEquality).map(keysOf)

const isEquality = ({ operator }: LabelRequirement): boolean => operator === '=' || operator === '==' || operator === 'in'

const keysOf = ({ key, values }: LabelRequirement): string[] => [...new Set(values)].map((value) => `${key}=${value}`)

const isParsed = (selector: LabelSelector | LabelSelectorObject | undefined): selector is LabelSelector => Array.isArray(selector)
