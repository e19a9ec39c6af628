import { type PlantedInMember, withAnswers } from './planted.ts'

interface Reported {
  report?: unknown
}

export const staleReport: PlantedInMember = {
  name: 'status from a stale report',
  differs: 'of the reports of a cache, the first one counts for ever',
  caughtBy: 'quiet after restart',
  foundBy: { seed: 18 },
  of: 'data.dataset',
  twin(right) {
    const first = new Map<string, unknown>()
    return withAnswers<Reported>(right, 'data.dataset.report-summary', (value, { key }) => {
      // The key ends with the time of the report.
      const run = key.slice(0, key.lastIndexOf(' '))
      if (!first.has(run) && value.report !== undefined) first.set(run, value.report)
      return { ...value, report: first.get(run) }
    })
  },
}
