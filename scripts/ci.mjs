// The wider tests, after npm ci: npm test, then what needs the real binaries of scripts/kube-assets, other Node versions and
// more time. Called by .ci/run; node scripts/ci.mjs [--only NAME[,NAME]].
import { parseArgs } from 'node:util'
import { runParts, summarise } from './parts.mjs'

const npm = (name, ...args) => ['npm', 'run', '--silent', name, '--', ...args]
const onNode = (major, ...args) => ['npm', 'exec', '--yes', `--package=node@${major}`, '--', 'node', ...args]
const escaped = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Tests of real programs name what failed, and retry that alone: `--only` takes the name, its area, or a pattern of it. */
const byName = (name) => ({ name, command: npm(name), again: (test) => npm(name, '--only', test) })
const byArea = (name) => ({ name, command: npm(name), again: (test) => npm(name, '--only', test.split(/:| beside/, 1)[0]) })
const byPattern = (name) => ({ name, command: npm(name), again: (test) => npm(name, '--only', `^${escaped(test)}$`) })
/** Where each test builds on the one before, all are retried. */
const whole = (name) => ({ name, command: npm(name), again: true })
const start = (name, command) => ({ name: `${name}: a new start`, command, again: true })

const otherNodes = ['22', '24'].flatMap((major) => [
  { name: `node ${major}: unit tests`, command: onNode(major, 'scripts/unit.mjs', 'src/base', 'src/kube', 'src/store') },
  start(`node ${major}`, onNode(major, 'scripts/run.mjs', 'test/clients/smoke.ts')),
])

/** First, and alone: everything below uses their output. */
const before = [
  { name: 'kube-assets', command: ['scripts/kube-assets/build'], minutes: 40 },
  { name: 'build', command: npm('build') },
]

/** These keep a core or two busy; the last is here so that both lanes take about as long. */
const computing = [
  { name: 'npm test', command: ['npm', 'test', '--silent'] },
  { name: 'prove:faults', command: npm('prove:faults', '--seeds', '1..50') },
  { name: 'prove:crash', command: npm('prove:crash', '--kills', '20') },
  { name: 'prove:cache: programs', command: npm('prove:cache', '--part', 'programs', '--kills', '10', '--megabytes', '12') },
  { name: 'fuzz:api', command: npm('fuzz:api', '--requests', '5000') },
  { name: 'facts', command: npm('facts', '--check') },
  { name: 'facts:server', command: npm('facts:server', '--check') },
  start(`node ${process.versions.node}`, [process.execPath, 'scripts/run.mjs', 'test/clients/smoke.ts']),
  ...otherNodes,
  byName('test:parity'),
]

/**
 * These mostly wait, for timers and for programs: they run in parallel with the others. All use free ports and their own
 * folders; those that run pods as processes stay in one lane, because pod addresses are shared by the machine.
 */
const waiting = [
  byPattern('test:kubectl'),
  byArea('test:clients'),
  byArea('test:kube'),
  byName('test:kube:fleet'),
  byName('test:kube:gate'),
  byName('test:kube:data'),
  whole('test:e2e'),
  whole('test:e2e:fleet'),
  whole('test:e2e:gate'),
  { name: 'prove:cache: sluice', command: npm('prove:cache', '--part', 'sluice', '--kills', '10', '--megabytes', '12') },
  whole('test:e2e:data'),
  { ...whole('test:examples'), minutes: 10 },
].map((part) => ({ ...part, lane: 'waiting' }))

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const results = await runParts([before, [...computing, ...waiting]], { only: values.only, logs: 'dist/logs/ci' })
process.exitCode = summarise(results)
