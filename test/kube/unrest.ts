/** What is written to a real kube-apiserver while nothing happens, by its own count of requests. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/client/client.ts'

const VERBS = ['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE']
const QUIET_MS = 3000
const SETTLED_WITHIN_MS = 60_000

export interface Resting {
  client: Client
  /** Of the controllers. */
  restart(): Promise<void>
  /** Plurals; statuses are written as `pods/status`. */
  watched: readonly string[]
}

/** Requests count that change nothing, too: a server stores no such write. As text; undefined when all is quiet, after a restart too. */
export async function unrestIn(resting: Resting): Promise<string | undefined> {
  const before = await settled(resting)
  if (before === undefined) return 'something is written again and again'
  await resting.restart()
  await sleep(QUIET_MS)
  const written = difference(before, await writesTo(resting))
  return written === '' ? undefined : `written after a restart: ${written}`
}

/** Undefined when it never comes to rest. */
async function settled(resting: Resting): Promise<Writes | undefined> {
  const deadline = Date.now() + SETTLED_WITHIN_MS
  for (let before = await writesTo(resting); Date.now() < deadline; ) {
    await sleep(QUIET_MS)
    const now = await writesTo(resting)
    const written = difference(before, now)
    if (written === '') return now
    console.log(`still written: ${written}`)
    before = now
  }
  return undefined
}

/** Requests by verb and resource. */
type Writes = ReadonlyMap<string, number>

/** From the server's own count: `apiserver_request_total{…,resource="works",…,subresource="status",verb="PATCH",…} 12`. */
async function writesTo({ client, watched }: Resting): Promise<Writes> {
  const { body } = await client.raw({ method: 'GET', path: '/metrics' })
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  const writes = new Map<string, number>()
  for (const [, labels = '', count = '0'] of Buffer.concat(chunks)
    .toString('utf8')
    .matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const found = Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]))
    const { resource = '', subresource = '', verb = '' } = found
    const written = subresource === '' ? resource : `${resource}/${subresource}`
    if (!watched.includes(written) || !VERBS.includes(verb)) continue
    const name = `${verb} ${written}`
    writes.set(name, (writes.get(name) ?? 0) + Number(count))
  }
  return writes
}

function difference(before: Writes, after: Writes): string {
  const more = [...after].map(([name, count]) => ({ name, count: count - (before.get(name) ?? 0) })).filter(({ count }) => count !== 0)
  return more.map(({ name, count }) => `${count} ${name}`).join(', ')
}
