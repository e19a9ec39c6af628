/** The order of API versions: v2 before v1 before v1beta2 before v1alpha1 before anything else, by name. */
export function compareKubeVersions(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)]
  for (let i = 0; i < left.length; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  // Names that are no versions come last, the first in the alphabet before the others.
  return left[0] === 0 ? (a < b ? 1 : a > b ? -1 : 0) : 0
}

/** Larger is preferred. */
function rank(version: string): number[] {
  const match = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/.exec(version)
  if (match === null) return [0, 0, 0]
  const stability = match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1
  return [stability, Number(match[1]), Number(match[3] ?? 0)]
}
