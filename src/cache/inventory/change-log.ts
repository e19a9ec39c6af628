/**
 * Which paths changed at which revision, as far back as there is room. Only paths are kept: whoever asks wants to know how they
 * are now, not how they were in between.
 */
export interface ChangeLog {
  readonly revision: number
  /** One step, however many paths. */
  add(paths: readonly string[]): void
  /** Each path once. Undefined: that revision is unknown or too long ago. */
  since(revision: number): ReadonlySet<string> | undefined
}

/** Of about 16 bytes each beside the path, which is mostly shared with the file's record. */
const MOST_CHANGES = 200_000

export function createChangeLog(first: number, most = MOST_CHANGES): ChangeLog {
  let revision = first
  /** Everything after this revision is known. */
  let floor = first
  let steps: { revision: number; paths: readonly string[] }[] = []
  let kept = 0

  function forget(): void {
    let dropped = 0
    while (kept > most && dropped < steps.length) {
      const step = steps[dropped++]
      kept -= Math.max(1, step?.paths.length ?? 0)
      floor = step?.revision ?? floor
    }
    if (dropped > 0) steps = steps.slice(dropped)
  }

  return {
    get revision() {
      return revision
    },
    add(paths) {
      revision++
      steps.push({ revision, paths })
      kept += Math.max(1, paths.length)
      if (kept > most) forget()
    },
    since(from) {
      if (!Number.isSafeInteger(from) || from < floor || from > revision) return undefined
      const changed = new Set<string>()
      for (let i = steps.length - 1; i >= 0; i--) {
        const step = steps[i]
        if (step === undefined || step.revision <= from) break
        for (const path of step.paths) changed.add(path)
      }
      return changed
    },
  }
}
