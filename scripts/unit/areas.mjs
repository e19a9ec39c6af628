// Which tests share a process. A process for each file would cost more than the tests themselves, and a few large ones would
// leave a core idle at the end.
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'

/**
 * Folders with a process of their own, in the order of what they cost (npm run test:slow): the longest start first, so that
 * short ones fill the end. Everything else shares one with its neighbours: `src/fleet`, `src/kube` and so on, and `test`.
 */
const OWN_PROCESS = [
  'test/fleet',
  'src/minicluster/housekeeping',
  'src/faultsim',
  'src/fleet/failover',
  'src/minicluster/kubelet',
  'src/minicluster/network',
  'src/fleet/detector',
  'test/faultsim',
  'src/minicluster/nodes',
  'src/minicluster/process',
  'src/apiserver',
  'src/fleet/execution',
  'src/fleet/membership',
  'src/fleet/binding',
  'src/cli',
  'src/fleet/scheduler',
  'src/fleet/reflection',
  'src/minicluster/workloads/deployment',
  'src/minicluster/workloads/job',
  'src/minicluster/workloads/stateful-set',
  'src/minicluster/workloads',
]

export function areasOf(files) {
  const areas = new Map()
  for (const file of files) areas.set(areaOf(file), [...(areas.get(areaOf(file)) ?? []), file])
  const rank = (name) => (OWN_PROCESS.includes(name) ? OWN_PROCESS.indexOf(name) : OWN_PROCESS.length)
  return [...areas].map(([name, members]) => ({ name, files: members })).sort((a, b) => rank(a.name) - rank(b.name))
}

function areaOf(file) {
  const [own] = OWN_PROCESS.filter((folder) => file.startsWith(`${folder}/`)).sort((a, b) => b.length - a.length)
  if (own !== undefined) return own
  const [first, second] = file.replace(/\.test\.ts$/, '').split('/')
  return first === 'test' ? first : `${first}/${second}`
}

/** Every *.test.ts at or below a path. */
export function testFilesIn(root) {
  const name = root.split(path.sep).join('/').replace(/\/$/, '')
  if (statSync(name).isFile()) return name.endsWith('.test.ts') ? [name] : []
  return readdirSync(name, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return testFilesIn(`${name}/${entry.name}`)
    return entry.name.endsWith('.test.ts') ? [`${name}/${entry.name}`] : []
  })
}
