/**
 * The order in which go-yaml v2 writes the keys of a map: consecutive digits compare as a number, and letters come after
 * everything else.
 */

const LETTER = /\p{L}/u
const DIGIT = /\p{Nd}/u

export function compareKeys(a: string, b: string): number {
  const [left, right] = [[...a], [...b]]
  const shared = Math.min(left.length, right.length)
  for (let i = 0; i < shared; i++) {
    const [x, y] = [left[i] as string, right[i] as string]
    if (x === y) continue
    const [isLetter, isOtherLetter] = [LETTER.test(x), LETTER.test(y)]
    if (isLetter && isOtherLetter) return codeOf(x) - codeOf(y)
    if (isLetter || isOtherLetter) return isOtherLetter ? -1 : 1
    return compareNumbers(left, right, i)
  }
  return left.length - right.length
}

const codeOf = (char: string): number => char.codePointAt(0) ?? 0

/** Compares from the first difference on. Zeros are not leading zeros if the number began before it. */
function compareNumbers(a: readonly string[], b: readonly string[], from: number): number {
  const begun = (a[from] === '0' || b[from] === '0') && hasBegun(a, from) ? 1n : 0n
  const [x, y] = [numberFrom(a, from, begun), numberFrom(b, from, begun)]
  if (x.value !== y.value) return x.value < y.value ? -1 : 1
  return x.end - y.end || codeOf(a[from] as string) - codeOf(b[from] as string)
}

function hasBegun(chars: readonly string[], from: number): boolean {
  for (let i = from - 1; i >= 0 && DIGIT.test(chars[i] as string); i--) if (chars[i] !== '0') return true
  return false
}

function numberFrom(chars: readonly string[], from: number, begun: bigint): { value: bigint; end: number } {
  let value = begun
  let end = from
  for (; end < chars.length && DIGIT.test(chars[end] as string); end++) {
    // Go uses 64-bit integers.
    value = BigInt.asIntN(64, value * 10n + BigInt(codeOf(chars[end] as string) - 0x30))
  }
  return { value, end }
}
