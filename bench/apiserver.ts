/**
 * `npm run bench:apiserver [-- --quick] [--write] [--profile DIR]`: how fast `sluice up --bare` is and how its cost grows,
 * compared with kube-apiserver and etcd in the same run if their binaries are available. `--write` puts the table into
 * docs/performance.md.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { runProgram } from '../test/machine/interrupt.ts'
import { privateProgram } from '../test/machine/program.ts'
import { Figures, markdown, replaceBetween } from './figures.ts'
import { LOAD, startGenerator } from './generator.ts'
import { serveOrders } from './load.ts'
import {
  type Bench,
  fill,
  measureDelivery,
  measureLists,
  measureMemory,
  measureStart,
  measureWrites,
  type Plan,
  warmUp,
} from './measure.ts'
import { kubeServer, missingKube, type Server, sluiceServer } from './servers.ts'

const FULL: Plan = { writers: [1, 16, 128], rounds: 3, seconds: 4, lists: 5, watchers: 1000, changes: 10, starts: 3 }
const QUICK: Plan = { writers: [1, 16, 128], rounds: 1, seconds: 2, lists: 3, watchers: 200, changes: 3, starts: 1 }
const DOCUMENT = 'docs/performance.md'

interface Options {
  quick: boolean
  write: boolean
  profile: string | undefined
  scales: number[]
  withKube: boolean
  kubeUp: string
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      profile: { type: 'string' },
      scales: { type: 'string' },
      'no-kube': { type: 'boolean', default: false },
      'kube-up': { type: 'string', default: path.join('scripts', 'kube-assets', 'up') },
    },
  })
  const scales = (values.scales ?? (values.quick ? '1000' : '1000,10000,100000')).split(',').map(Number)
  return {
    quick: values.quick,
    write: values.write,
    profile: values.profile,
    scales,
    withKube: !values['no-kube'],
    kubeUp: values['kube-up'],
  }
}

/** How long this disk takes to make 4 KiB durable: the floor of any durable write. */
function syncMs(folder: string): number {
  const file = openSync(path.join(folder, 'sync'), 'w')
  const times = Array.from({ length: 200 }, () => {
    const began = performance.now()
    writeSync(file, Buffer.alloc(4096, 1))
    fdatasyncSync(file)
    return performance.now() - began
  }).sort((a, b) => a - b)
  closeSync(file)
  return times[100] ?? 0
}

async function measureAll(bench: Bench, scales: readonly number[]): Promise<void> {
  for (const server of bench.servers) bench.figures.add(0, 'first start of all (keys are made)', 'ms', server.name, [await server.start()])
  await measureStart(bench, 0)
  let stored = 0
  for (const scale of scales) {
    await fill(bench, stored, scale)
    stored = scale
    await warmUp(bench)
    await measureWrites(bench, scale)
    await measureLists(bench, scale)
    await measureDelivery(bench, scale)
    await measureMemory(bench, scale, 'after the load')
    await measureStart(bench, scale)
  }
}

async function main(later: (step: () => Promise<void> | void) => void): Promise<number> {
  const options = readOptions()
  const program = await privateProgram()
  later(() => program.remove())
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-bench-'))
  later(() => rmSync(folder, { recursive: true, force: true }))
  const servers: Server[] = [sluiceServer({ program: program.file, folder, profile: options.profile })]
  const why = options.withKube ? missingKube(options.kubeUp) : 'not wanted'
  if (why === undefined) servers.push(kubeServer(folder, options.kubeUp))
  else console.log(`no comparison with kube-apiserver: ${why}`)
  for (const server of servers) later(() => server.stop())
  const generator = startGenerator()
  later(() => generator.stop())
  const bench: Bench = {
    servers,
    generator,
    figures: new Figures(),
    plan: options.quick ? QUICK : FULL,
    report: (text) => void process.stderr.write(process.stderr.isTTY ? `\r\u001b[K${text}` : `${text}\n`),
  }
  const sync = syncMs(folder)
  await measureAll(bench, options.scales)
  const lines = markdown(
    bench.figures.all,
    servers.map(({ name }) => name),
  )
  const where = `Node ${process.version}, ${os.cpus().length} × ${os.cpus()[0]?.model ?? 'unknown CPU'}, load average ${os.loadavg()[0]?.toFixed(1)} at the end, fdatasync of 4 KiB ${sync.toFixed(1)} ms. ConfigMaps of 1 KiB, HTTP/1.1 over TLS, medians of interleaved rounds.${why === undefined ? ' "Theirs" is kube-apiserver v1.36.3 with etcd; × is how many times better Sluice is.' : ''}`
  console.log(`\n${where}\n\n${lines}`)
  if (options.write) writeFileSync(DOCUMENT, replaceBetween(readFileSync(DOCUMENT, 'utf8'), 'bench:apiserver', `\n${where}\n\n${lines}\n`))
  return 0
}

if (process.argv[2] === LOAD) await serveOrders()
else await runProgram(main)
