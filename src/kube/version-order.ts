/** Kubernetes' order of API versions: GA before beta before alpha, newest first, anything else last by name. */
const FORM = /^v(\d+)(?:(alpha|beta)(\d+))?$/

/** For `sort`: the preferred version comes first. */
export function compareVersions(a: string, b: string): number {
  const left = rank(a)
  const right = rank(b)
  if (left === undefined || right === undefined) return left === right ? (a < b ? -1 : a > b ? 1 : 0) : left === undefined ? 1 : -1
  for (const [i, value] of left.entries()) {
    const difference = (right[i] ?? 0) - value
    if (difference !== 0) return difference
  }
  return 0
}

/** Larger is preferred. */
function rank(version: string): number[] | undefined {
  const match = FORM.exec(version)
  if (match === null) return undefined
  const stability = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0
  return [stability, Number(match[1]), Number(match[3] ?? 0)]
}
