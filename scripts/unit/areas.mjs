// Which tests share a process. A process for each file would cost more than the tests themselves, and a few large ones would leave a
// core idle at the end.
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'

/**
 * Folders whose tests have their own process, without those of folders below them that have their own; in order of cost (npm
 * run test:slow): the longest start first, so that short ones fill the end. Any other folder of src has one as well.
 */
export const OWN_PROCESS = [
  'test/fleet',
  'test/data',
  'src/fleet',
  'test/faultsim',
  'src/minicluster',
  'src/minicluster/workloads',
  'src/minicluster/housekeeping',
  'src/faultsim',
  'src/minicluster/nodes',
  'src/fleet/failover',
  'src/minicluster/kubelet',
  'src/minicluster/workloads/deployment',
  'src/fleet/detector',
  'test',
  'src/minicluster/workloads/stateful-set',
  'src/minicluster/process',
  'src/minicluster/network',
  'src/apiserver',
  'src/minicluster/storage',
  'src/fleet/execution',
  'src/minicluster/scheduler',
  'src/minicluster/workloads/job',
  'src/cli',
  'src/fleet/membership',
  'src/fleet/binding',
  'src/fleet/scheduler',
  'src/fleet/reflection',
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
  return file
    .replace(/\.test\.ts$/, '')
    .split('/')
    .slice(0, 2)
    .join('/')
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
