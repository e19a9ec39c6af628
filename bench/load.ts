/**
 * The load generator: a separate process, so that its CPU time is not the server's, and the same one for every server that
 * is compared. Takes orders over IPC, one at a time, and answers each with figures.
 */
import { Wire, type WireAnswer, type WireRequest, type WireTarget } from '../test/machine/wire.ts'

export interface Throughput {
  operations: number
  seconds: number
  p50: number
  p99: number
  /** CPU of this process, in milliseconds. */
  clientCpuMs: number
}

export interface Lists {
  ms: number[]
  bytes: number
  items: number
}

export type Order =
  | { what: 'fill'; target: WireTarget; namespace: string; from: number; to: number }
  | { what: 'create' | 'update'; target: WireTarget; namespace: string; writers: number; seconds: number; prefix: string }
  | { what: 'list'; target: WireTarget; path: string; accept: string; limit: number; times: number }
  | { what: 'deliver'; target: WireTarget; namespace: string; watchers: number; changes: number }
  | { what: 'clear'; target: WireTarget; namespace: string }

/** What each kind of order is answered with. */
export interface Answers {
  fill: undefined
  create: Throughput
  update: Throughput
  list: Lists
  /** Milliseconds from sending a change until the last watcher has it, per change; and of the first watcher. */
  deliver: { all: number[]; first: number[] }
  clear: undefined
}

const PAYLOAD = 'x'.repeat(1024)
const FILL_WRITERS = 32
const MAX_RETRIES = 20

export const configMaps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`

export async function serveOrders(): Promise<void> {
  process.on('message', (message: { id: number; order: Order }) => {
    execute(message.order).then(
      (result) => process.send?.({ id: message.id, result }),
      (error: unknown) =>
        process.send?.({ id: message.id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    )
  })
  await new Promise<void>((resolve) => process.once('disconnect', () => resolve()))
}

function execute(order: Order): Promise<unknown> {
  switch (order.what) {
    case 'fill':
      return fill(order)
    case 'create':
    case 'update':
      return write(order)
    case 'list':
      return list(order)
    case 'deliver':
      return deliver(order)
    case 'clear':
      return withWire(order.target, (wire) => must(wire, { method: 'DELETE', path: configMaps(order.namespace) }))
  }
}

async function must(wire: Wire, request: WireRequest): Promise<WireAnswer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await wire.request(request)
    if (answer.status < 300) return answer
    // Overload is answered with 429; anything else is a mistake of the measurement.
    if (answer.status !== 429 || attempt > MAX_RETRIES)
      throw new Error(`${request.method} ${request.path}: ${answer.status} ${answer.body.toString().slice(0, 300)}`)
    await new Promise((resolve) => setTimeout(resolve, 100 * attempt))
  }
}

async function withWire<T>(target: WireTarget, work: (wire: Wire) => Promise<T>): Promise<T> {
  const wire = new Wire(target)
  try {
    return await work(wire)
  } finally {
    wire.close()
  }
}

/** Runs `work` on as many connections as there are writers. */
async function each(target: WireTarget, writers: number, work: (wire: Wire, index: number) => Promise<void>): Promise<void> {
  const wires = Array.from({ length: writers }, () => new Wire(target))
  try {
    await Promise.all(wires.map((wire, index) => work(wire, index)))
  } finally {
    for (const wire of wires) wire.close()
  }
}

const object = (name: string, mark: string): string =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"data":{"mark":"${mark}","payload":"${PAYLOAD}"}}`

async function ensureNamespace(target: WireTarget, name: string): Promise<void> {
  const answer = await withWire(target, (wire) =>
    wire.request({ method: 'POST', path: '/api/v1/namespaces', body: JSON.stringify({ metadata: { name } }) }),
  )
  if (answer.status !== 201 && answer.status !== 409)
    throw new Error(`namespace ${name}: ${answer.status} ${answer.body.toString().slice(0, 300)}`)
}

async function fill({ target, namespace, from, to }: Extract<Order, { what: 'fill' }>): Promise<void> {
  await ensureNamespace(target, namespace)
  let next = from
  await each(target, FILL_WRITERS, async (wire) => {
    while (next < to) await must(wire, { method: 'POST', path: configMaps(namespace), body: object(`c-${next++}`, '') })
  })
}

type WriteOrder = Extract<Order, { what: 'create' | 'update' }>

async function write({ what, target, namespace, writers, seconds, prefix }: WriteOrder): Promise<Throughput> {
  await ensureNamespace(target, namespace)
  const path = configMaps(namespace)
  const times: number[] = []
  const cpuBefore = process.cpuUsage()
  let began = 0
  let ready = 0
  let start: () => void = () => undefined
  const started = new Promise<void>((resolve) => {
    start = resolve
  })
  let ended = 0
  await each(target, writers, async (wire, index) => {
    const own = `${prefix}-${index}`
    // One request each before the clock starts: connections are open, and the objects to update exist.
    await must(wire, { method: 'POST', path, body: object(own, '') })
    if (++ready === writers) {
      began = performance.now()
      start()
    }
    await started
    const end = began + seconds * 1000
    for (let i = 0; performance.now() < end; i++) {
      const sent = performance.now()
      if (what === 'create') await must(wire, { method: 'POST', path, body: object(`${own}-${i}`, '') })
      else await must(wire, { method: 'PUT', path: `${path}/${own}`, body: object(own, String(i)) })
      times.push(performance.now() - sent)
    }
    ended = Math.max(ended, performance.now())
  })
  const cpu = process.cpuUsage(cpuBefore)
  times.sort((a, b) => a - b)
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.NaN
  return {
    operations: times.length,
    seconds: (ended - began) / 1000,
    p50: at(0.5),
    p99: at(0.99),
    clientCpuMs: (cpu.user + cpu.system) / 1000,
  }
}

function list({ target, path, accept, limit, times }: Extract<Order, { what: 'list' }>): Promise<Lists> {
  return withWire(target, async (wire) => {
    // The connection is opened before the clock starts.
    await must(wire, { method: 'GET', path: '/version' })
    const ms: number[] = []
    let bytes = 0
    let items = 0
    for (let i = 0; i < times; i++) {
      const bodies: Buffer[] = []
      let token = ''
      let elapsed = 0
      do {
        const query = limit > 0 ? `?limit=${limit}${token === '' ? '' : `&continue=${encodeURIComponent(token)}`}` : ''
        const sent = performance.now()
        const { body } = await must(wire, { method: 'GET', path: path + query, accept })
        elapsed += performance.now() - sent
        bodies.push(body)
        token = limit > 0 ? continueOf(body) : ''
      } while (token !== '')
      ms.push(elapsed)
      bytes = bodies.reduce((sum, body) => sum + body.length, 0)
      // Counted once, outside the clock.
      if (i === 0) items = bodies.reduce((sum, body) => sum + count(body), 0)
    }
    return { ms, bytes, items }
  })
}

/** The token comes before the items; parsing a whole page for it would cost this process time. */
const continueOf = (body: Buffer): string => /"continue":"([^"]*)"/.exec(body.toString('latin1', 0, 4096))?.[1] ?? ''

function count(body: Buffer): number {
  const parsed = JSON.parse(body.toString()) as { items?: unknown[]; rows?: unknown[] }
  return (parsed.items ?? parsed.rows ?? []).length
}

async function deliver({ target, namespace, watchers, changes }: Extract<Order, { what: 'deliver' }>): Promise<Answers['deliver']> {
  await ensureNamespace(target, namespace)
  const path = configMaps(namespace)
  const body = await withWire(target, (wire) => must(wire, { method: 'GET', path: `${path}?limit=1` }))
  const revision = /"resourceVersion":"(\d+)"/.exec(body.body.toString('latin1', 0, 4096))?.[1] ?? ''
  const wires: Wire[] = []
  let current = ''
  let seen = 0
  let firstMs = 0
  let onAll: () => void = () => undefined
  const onData = (chunk: Buffer): void => {
    if (current === '' || !chunk.includes(current)) return
    if (seen++ === 0) firstMs = performance.now()
    if (seen === watchers) onAll()
  }
  for (let i = 0; i < watchers; i++) {
    const wire = new Wire(target)
    wires.push(wire)
    wire
      .stream({ method: 'GET', path: `${path}?watch=true&resourceVersion=${revision}&timeoutSeconds=600` }, onData)
      .catch((error: unknown) => {
        if (!wire.isClosed) throw error
      })
    if (i % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const result = await withWire(target, async (wire) => {
    const all: number[] = []
    const first: number[] = []
    for (let i = 0; i <= changes; i++) {
      seen = 0
      current = `mark-of-change-${i}-${process.pid}.`
      const everybody = new Promise<void>((resolve) => {
        onAll = resolve
      })
      const sent = performance.now()
      await must(wire, { method: 'POST', path, body: object(`change-${i}`, current) })
      await everybody
      // The first also waits for connections that are still being opened.
      if (i > 0) {
        all.push(performance.now() - sent)
        first.push(firstMs - sent)
      }
    }
    return { all, first }
  })
  for (const wire of wires) wire.close()
  return result
}
