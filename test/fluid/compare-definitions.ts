/**
 * `npm run compare:fluid -- DIRECTORY`: compares our definitions of Fluid's kinds with the CustomResourceDefinitions in a
 * directory (`config/crd/bases` or `charts/fluid/fluid/crds` of Fluid), and prints where they differ. Differences that are
 * meant come with their reason; any other ends it with status 1.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseAllDocuments } from 'yaml'
import { fluidKinds } from '../../src/kinds/fluid/index.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { compareDefinitions } from './definition-paths.ts'
import { reasonFor } from './meant-differences.ts'

const [directory] = process.argv.slice(2)
if (directory === undefined) {
  console.error("say where Fluid's definitions are: npm run compare:fluid -- DIRECTORY")
  process.exit(2)
}

const definitions = readdirSync(directory)
  .filter((name) => /\.ya?ml$/.test(name))
  .flatMap((name) => parseAllDocuments(readFileSync(path.join(directory, name), 'utf8')).map((document) => document.toJS() as KubeObject))
  .filter((object) => object?.kind === 'CustomResourceDefinition')

const all = definitions
  .flatMap((theirs) => compareDefinitions(theirs, fluidKinds.find(({ crd }) => crd.metadata.name === theirs.metadata.name)?.crd))
  .map((difference) => ({ ...difference, reason: reasonFor(difference) }))
const unmeant = all.filter(({ reason }) => reason === undefined)

const meant = new Map<string, number>()
for (const { reason } of all) if (reason !== undefined) meant.set(reason, (meant.get(reason) ?? 0) + 1)
for (const [reason, times] of meant) console.log(`meant, ${times}×: ${reason}`)
for (const { where, what } of unmeant) console.log(`${where}: ${what}`)
console.log(
  `${definitions.length} definitions compared with ours: ${unmeant.length} differences, and ${all.length - unmeant.length} that are meant`,
)
process.exitCode = unmeant.length === 0 && definitions.length > 0 ? 0 : 1
