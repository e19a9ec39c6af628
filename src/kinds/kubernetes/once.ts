/**
 * Values that are computed on first use and kept. Facts are large; a process that only serves ConfigMaps should not pay
 * for parsing the others at start. Only pure computations belong here, so that caching is not observable.
 */
export function once<T>(compute: () => T): () => T {
  let state: { value: T } | undefined
  return () => {
    state ??= { value: compute() }
    return state.value
  }
}
