/** How far something is, as people see it at a glance: `████████████░░░░░░░░`. Pure. */

const CELLS = 20
/** `1.2 of 2.0 GiB`, as pods and volumes say it. */
const AMOUNTS = /(\d{1,15}(?:\.\d{1,3})?) of (\d{1,15}(?:\.\d{1,3})?) (?:B|[KMGTP]iB)\b/

export function bar(percent: number): string {
  const full = Math.max(0, Math.min(CELLS, Math.floor((percent / 100) * CELLS) || 0))
  return `${'█'.repeat(full)}${'░'.repeat(CELLS - full)}`
}

/** A bar for a text that says how much of how much there is, with the percentage; undefined: it says nothing of the kind. */
export function barIn(text: string): string | undefined {
  const [, done, whole] = AMOUNTS.exec(text) ?? []
  if (done === undefined || whole === undefined) return undefined
  // Of nothing, everything is there.
  const percent = Number(whole) === 0 ? 100 : Math.min(100, (Number(done) * 100) / Number(whole))
  return `${bar(percent)} ${Math.floor(percent)}%`
}
