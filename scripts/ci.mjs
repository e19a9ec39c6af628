// The wider tests, after npm ci: npm test, then what needs the real binaries of scripts/kube-assets, other Node versions and
// more time. Called by .ci/run; node scripts/ci.mjs [--only NAME[,NAME]].
import { parseArgs } from 'node:util'
import { runParts, summarise } from './parts.mjs'

const npm = (name, ...args) => ['npm', 'run', '--silent', name, '--', ...args]
const onNode = (major, ...args) => ['npm', 'exec', '--yes', `--package=node@${major}`, '--', 'node', ...args]

const otherNodes = ['22', '24'].flatMap((major) => [
  { name: `node ${major}: unit tests`, command: onNode(major, 'scripts/unit.mjs', 'src/base', 'src/kube', 'src/store') },
  { name: `node ${major}: a new start`, command: onNode(major, 'scripts/run.mjs', 'test/clients/smoke.ts') },
])

const parts = [
  { name: 'npm test', command: ['npm', 'test', '--silent'] },
  { name: 'kube-assets', command: ['scripts/kube-assets/build'], minutes: 40 },
  { name: 'test:kubectl', command: npm('test:kubectl') },
  { name: 'test:clients', command: npm('test:clients') },
  { name: 'test:kube', command: npm('test:kube') },
  { name: 'test:kube:fleet', command: npm('test:kube:fleet') },
  { name: 'test:parity', command: npm('test:parity') },
  { name: 'prove:faults', command: npm('prove:faults', '--seeds', '1..50') },
  { name: 'test:e2e', command: npm('test:e2e') },
  { name: 'test:e2e:fleet', command: npm('test:e2e:fleet') },
  { name: 'test:examples', command: npm('test:examples'), minutes: 10 },
  { name: 'facts', command: npm('facts', '--check') },
  { name: 'facts:server', command: npm('facts:server', '--check') },
  { name: 'prove:crash', command: npm('prove:crash', '--kills', '20') },
  { name: 'fuzz:api', command: npm('fuzz:api', '--requests', '5000') },
  { name: `node ${process.versions.node}: a new start`, command: [process.execPath, 'scripts/run.mjs', 'test/clients/smoke.ts'] },
  ...otherNodes,
]

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const results = await runParts(parts, { only: values.only, logs: 'dist/logs/ci' })
process.exitCode = summarise(results)
