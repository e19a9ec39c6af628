/** What the client of a node counts, and the same as Prometheus reads it. No label comes from users: their number is fixed. */
import type { VolumeState } from '../../kube/materialised-volume.ts'

export type ReadFrom = 'local' | 'remote'

export interface Figures {
  /** A block came from a tier of this node, or from a worker over HTTP. */
  read(from: ReadFrom, bytes: number): void
  /** A volume waits, because something went wrong. */
  failed(): void
  /** Returns what ends it. */
  follow(stateOf: () => VolumeState): () => void
  text(): string
}

const STATES: readonly VolumeState['state'][] = ['waiting', 'filling', 'ready']
const FROM: readonly ReadFrom[] = ['local', 'remote']

export function createFigures(): Figures {
  const blocks = { local: 0, remote: 0 }
  const bytes = { local: 0, remote: 0 }
  let failures = 0
  const volumes = new Set<() => VolumeState>()
  return {
    read(from, length) {
      blocks[from]++
      bytes[from] += length
    },
    failed() {
      failures++
    },
    follow(stateOf) {
      volumes.add(stateOf)
      return () => void volumes.delete(stateOf)
    },
    text() {
      const states = [...volumes].map((stateOf) => stateOf())
      const sum = (of: (state: VolumeState) => number): number => states.reduce((all, state) => all + of(state), 0)
      const perSource = (counts: Readonly<Record<ReadFrom, number>>) => FROM.map((from) => [`{from="${from}"}`, counts[from]] as const)
      return [
        ...metric(['volumes', 'gauge', 'Parts of the dataset that pods of this node want.'], STATES.map(countIn(states))),
        ...metric(
          ['files', 'gauge', 'Files of these volumes.'],
          [
            ['{state="complete"}', sum(({ doneFiles }) => doneFiles)],
            ['{state="wanted"}', sum(({ totalFiles }) => totalFiles)],
          ],
        ),
        ...metric(
          ['bytes', 'gauge', 'Bytes of these volumes.'],
          [
            ['{state="complete"}', sum(({ doneBytes }) => doneBytes)],
            ['{state="wanted"}', sum(({ totalBytes }) => totalBytes)],
          ],
        ),
        ...metric(['reads_total', 'counter', 'Blocks that were read, from this node or from a worker over HTTP.'], perSource(blocks)),
        ...metric(['read_bytes_total', 'counter', 'Bytes of these blocks.'], perSource(bytes)),
        ...metric(['failures_total', 'counter', 'Attempts to complete a volume that failed.'], [['', failures]]),
        '',
      ].join('\n')
    },
  }
}

const countIn =
  (states: readonly VolumeState[]) =>
  (state: VolumeState['state']): readonly [string, number] => [`{state="${state}"}`, states.filter((one) => one.state === state).length]

function metric([name, type, help]: readonly [string, string, string], values: readonly (readonly [string, number])[]): string[] {
  const full = `sluice_cache_client_${name}`
  return [`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`, ...values.map(([labels, value]) => `${full}${labels} ${value}`)]
}
