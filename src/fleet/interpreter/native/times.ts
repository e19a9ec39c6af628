/** The earliest and the latest of times in API format. Absent or invalid ones are ignored. */
import { timeToMs } from '../../../kube/go-time.ts'

export const earliestTime = (times: readonly (string | undefined)[]): string | undefined => sorted(times)[0]
export const latestTime = (times: readonly (string | undefined)[]): string | undefined => sorted(times).at(-1)

function sorted(times: readonly (string | undefined)[]): string[] {
  const known = times.flatMap((text) => {
    const ms = timeToMs(text)
    return text === undefined || ms === undefined ? [] : [{ text, ms }]
  })
  return known.sort((a, b) => a.ms - b.ms || (a.text < b.text ? -1 : 1)).map(({ text }) => text)
}
