/**
 * `npm run bench:runtime [-- --quick] [--write] [--no-kube] [--pods N] [--profile DIR]`: what the runtime costs per object, and pods from
 * Deployments to Running beside the real programs in the same run. `--write` puts the tables into docs/performance.md.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { missingAssets } from '../test/machine/assets.ts'
import { runProgram } from '../test/machine/interrupt.ts'
import { privateProgram } from '../test/machine/program.ts'
import { machineText, replaceBetween, whole } from './figures.ts'
import { measurePasses, type PassFigures } from './passes.ts'
import { measureOurPods, measureTheirPods, type PodFigures, type PodLoad } from './pods.ts'

const DOCUMENT = 'docs/performance.md'
const MEBIBYTE = 1024 * 1024
const PODS_PER_NODE = 100

await runProgram(async (later) => {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      'no-kube': { type: 'boolean', default: false },
      pods: { type: 'string' },
      profile: { type: 'string' },
    },
  })
  const scales = values.quick ? [1000, 10_000] : [1000, 10_000, 100_000]
  const passes: PassFigures[] = []
  for (const scale of scales) {
    passes.push(await measurePasses(scale))
    console.log(JSON.stringify(passes.at(-1)))
  }
  const load = loadOf(Number(values.pods ?? (values.quick ? 1000 : 10_000)))
  const program = await privateProgram()
  later(async () => program.remove())
  const ours = await measureOurPods(program.file, load, values.profile)
  console.log('ours', JSON.stringify(ours))
  const missing = values['no-kube'] ? 'not asked for' : missingAssets(['kubectl', 'kube-controller-manager', 'kube-scheduler', 'kwok'])
  const theirs = missing === undefined ? await measureTheirPods(load) : undefined
  console.log('theirs', theirs === undefined ? missing : JSON.stringify(theirs))
  const text = [machineText('at the end'), passTable(passes), podTable(load, ours, theirs)].join('\n\n')
  console.log(`\n${text}`)
  if (values.write) writeFileSync(DOCUMENT, replaceBetween(readFileSync(DOCUMENT, 'utf8'), 'bench:runtime', text))
  const isQuiet = passes.every((one) => one.writesWhenSettled === 0 && one.writesAfterRestart === 0)
  if (!isQuiet) console.log('a settled controller wrote something')
  return isQuiet ? 0 : 1
})

function loadOf(pods: number): PodLoad {
  const replicas = Math.min(100, pods)
  return { deployments: Math.ceil(pods / replicas), replicas, nodes: Math.ceil(pods / PODS_PER_NODE) }
}

function passTable(figures: readonly PassFigures[]): string {
  const row = (what: string, of: (figure: PassFigures) => string): string => `| ${what} | ${figures.map(of).join(' | ')} |`
  return [
    `| a controller over | ${figures.map(({ objects }) => `${objects.toLocaleString('en')} objects`).join(' | ')} |`,
    `| --- | ${figures.map(() => '---:').join(' | ')} |`,
    row('first list into the cache (ms)', (one) => whole(one.syncMs)),
    row('passes per second that each write once', (one) => whole(one.writingPerSecond)),
    row('passes per second with nothing to do', (one) => whole(one.quietPerSecond)),
    row('memory of cache and controller per object (bytes)', (one) => whole(one.bytesPerObject)),
    row('restart until everything was looked at (ms)', (one) => whole(one.restartMs)),
    row('writes when settled', (one) => String(one.writesWhenSettled)),
    row('writes after a restart', (one) => String(one.writesAfterRestart)),
  ].join('\n')
}

function podTable(load: PodLoad, ours: PodFigures, theirs: PodFigures | undefined): string {
  const pods = (load.deployments * load.replicas).toLocaleString('en')
  const row = (what: string, of: (figures: PodFigures) => number): string => {
    const ratio = theirs === undefined ? '–' : (of(theirs) / of(ours)).toFixed(2)
    return `| ${what} | ${whole(of(ours))} | ${theirs === undefined ? '–' : whole(of(theirs))} | ${ratio} |`
  }
  return [
    `${pods} simulated pods from ${load.deployments} Deployments to Running on ${load.nodes} nodes, over TLS; "theirs" is kube-apiserver, etcd (without fsync), kube-controller-manager, kube-scheduler and kwok; × is how many times better Sluice is.`,
    '',
    '| | Sluice | theirs | × |',
    '| --- | ---: | ---: | ---: |',
    row('until all run (ms)', (figures) => figures.wallMs),
    row('CPU of all processes (ms)', (figures) => figures.cpuMs),
    row('resident memory, all processes (MiB)', (figures) => figures.residentBytes / MEBIBYTE),
  ].join('\n')
}
