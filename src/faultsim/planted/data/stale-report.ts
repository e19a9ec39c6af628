import type { Outcome } from '../../../runtime/controller.ts'
import type { PlantedInMember } from './planted.ts'

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
    return {
      ...right,
      observe: (key, primary, read, client) =>
        right.observe(
          key,
          primary,
          {
            ...read,
            outcome<Input, Output>(effect: Parameters<typeof read.outcome<Input, Output>>[0], of: string): Outcome<Output> | undefined {
              const outcome = read.outcome(effect, of)
              if (effect.name !== 'data.dataset.report-summary' || outcome?.state !== 'done') return outcome
              const value = outcome.value as Reported
              // The key ends with the time of the report.
              const run = of.slice(0, of.lastIndexOf(' '))
              if (!first.has(run) && value.report !== undefined) first.set(run, value.report)
              return { state: 'done', value: { ...value, report: first.get(run) } as Output }
            },
          },
          client,
        ),
    }
  },
}
