/** The limits of a server, of its listener and of the history it keeps, with what happens beyond each. */
import { DEFAULT_LISTENER_LIMITS, type ListenerLimits } from '../../apiserver/listener/index.ts'
import { DEFAULT_LIMITS, type ServerLimits } from '../../apiserver/scope.ts'
import { DEFAULT_HISTORY, type HistoryLimits } from '../../store/mvcc/history.ts'
import { code, type Page, page, table } from './markdown.ts'

type Meanings<T> = Readonly<Record<keyof T & string, readonly [meaning: string, beyond: string]>>

const SERVER: Meanings<ServerLimits> = {
  bodyBytes: ['body of a request', '413'],
  objectBytes: ['one stored object', '413, with its size'],
  inFlight: ['requests under way at once', '429 with Retry-After'],
  watchers: ['watches open at once', '429 with Retry-After'],
  watchBufferBytes: ['bytes that a watcher may fall behind', 'its stream is closed; it resumes from its last revision'],
  watchBufferEvents: ['events that a watcher may fall behind', 'its stream is closed; it resumes from its last revision'],
  futureRevisionWaitSeconds: ['how long a read waits for a revision that is yet to come', '504, with the current revision'],
  userRate: ['requests of one user a second; `system:masters` is exempt', '429 with Retry-After'],
  userBurst: ['requests of one user at once, after a pause', '429 with Retry-After'],
}

const LISTENER: Meanings<ListenerLimits> = {
  bodyBytes: ['body of a request, as it comes in', '413, unread'],
  headerBytes: ['all headers of a request', '431'],
  requestTimeoutMs: ['until an answer begins; a watch begins at once and then lasts', '504'],
  idleTimeoutMs: ['a connection without requests', 'closed'],
  connections: ['connections at once', 'dropped'],
  streams: ['requests at once on one HTTP/2 connection', 'they wait'],
}

const HISTORY: Meanings<HistoryLimits> = {
  minEvents: ['events kept whatever their age', ''],
  minAgeMs: ['age up to which events are kept', ''],
  maxEvents: ['events kept at most', '410: list again'],
  maxBytes: ['replaced and deleted values kept at most', '410: list again'],
}

export function limitsPage(): Page {
  const intro = 'The defaults of the code, for each cluster; there are no flags for them yet.'
  return page('limits', { title: 'Limits', from: 'src/cli/reference/limits-page.ts', intro }, [
    section('Server', SERVER, DEFAULT_LIMITS),
    section('Listener', LISTENER, DEFAULT_LISTENER_LIMITS),
    section('History to watch and page from', HISTORY, DEFAULT_HISTORY),
  ])
}

function section<T extends object>(title: string, meanings: Meanings<T>, defaults: Readonly<Record<keyof T & string, number>>): string {
  const names = Object.keys(meanings) as (keyof T & string)[]
  const rows = names.map((name) => [code(name), amount(name, defaults[name]), ...meanings[name]])
  return `## ${title}\n\n${table(['limit', 'default', 'meaning', 'beyond it'], rows)}`
}

const MIB = 1024 * 1024

function amount(name: string, value: number): string {
  if (/bytes$/i.test(name)) return value >= MIB ? `${value / MIB} MiB` : `${value / 1024} KiB`
  if (name.endsWith('Ms')) return `${value / 1000} s`
  return `${value.toLocaleString('en')}${name.endsWith('Seconds') ? ' s' : ''}`
}
