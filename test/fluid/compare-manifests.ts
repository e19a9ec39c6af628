/**
 * `npm run compare:fluid:manifests -- CHECKOUT`: sends every manifest of Fluid's kinds in a checkout of Fluid (YAML files, and code
 * blocks of its pages) as a dry run to a member, and prints how many are accepted, by folder and by kind, and each refusal with
 * its reason. The same manifests go to a real kube-apiserver that has Fluid's own definitions: what it refuses cannot be used with
 * Fluid either. Ends with status 1 where the two disagree.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { KubeConfig, KubernetesObjectApi, loadAllYaml, type V1CustomResourceDefinition } from '@kubernetes/client-node'
import { missingAssets } from '../machine/assets.ts'
import { runProgram } from '../machine/interrupt.ts'
import { startMemberServer } from '../machine/member-server.ts'
import { type RealServer, startRealServer } from '../machine/real-server.ts'
import { table } from '../machine/table.ts'
import { DryRun, namespaceOf } from './dry-run.ts'
import type { Manifest } from './manifest-documents.ts'
import { manifestsBelow } from './manifest-files.ts'

const POLL_MS = 50
const DEFINITIONS = 'charts/fluid/fluid/crds'

const VERDICTS = ['accepted', 'no object', 'Fluid refuses it, too', 'only we refuse it', 'only we accept it'] as const
type Verdict = (typeof VERDICTS)[number]
const DISAGREEMENTS: readonly Verdict[] = ['only we refuse it', 'only we accept it']

interface Judged {
  manifest: Manifest
  verdict: Verdict
  reason?: string
}

interface Servers {
  ours: DryRun
  /** Absent: the checkout has no definitions. */
  theirs?: DryRun
}

function clientOf(kubeconfig: string): KubeConfig {
  const config = new KubeConfig()
  config.loadFromFile(kubeconfig)
  return config
}

async function withDefinitions({ kubeconfig }: RealServer, directory: string): Promise<DryRun> {
  const config = clientOf(kubeconfig)
  const objects = KubernetesObjectApi.makeApiClient(config)
  const definitions = readdirSync(directory).flatMap(
    (name) => loadAllYaml(readFileSync(path.join(directory, name), 'utf8')) as V1CustomResourceDefinition[],
  )
  for (const definition of definitions) await objects.create(definition)
  for (const definition of definitions) while (!isEstablished(await objects.read(definition as NamedDefinition))) await sleep(POLL_MS)
  return new DryRun(config)
}

type NamedDefinition = V1CustomResourceDefinition & { metadata: { name: string } }

const isEstablished = ({ status }: V1CustomResourceDefinition): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') ?? false

async function judge(manifest: Manifest, { ours, theirs }: Servers): Promise<Judged> {
  const { object, problem } = manifest
  if (object === undefined) return { manifest, verdict: 'no object', reason: problem }
  const [own, their] = [await ours.create(object), await theirs?.create(object)]
  if (own === undefined)
    return theirs === undefined || their === undefined
      ? { manifest, verdict: 'accepted' }
      : { manifest, verdict: 'only we accept it', reason: their }
  return { manifest, verdict: their === undefined ? 'only we refuse it' : 'Fluid refuses it, too', reason: own }
}

/** Two levels for pages, which exist in several languages; one for everything else. */
const folderOf = ({ manifest: { file } }: Judged): string =>
  file
    .split('/')
    .slice(0, file.startsWith('docs/') ? 2 : 1)
    .join('/')
const kindOf = ({ manifest: { object } }: Judged): string => object?.kind ?? '(no object)'

function counts(title: string, judged: readonly Judged[], groupOf: (one: Judged) => string): string {
  const groups = [...new Set(judged.map(groupOf))].sort()
  const row = (name: string, own: readonly Judged[]): (string | number)[] => [
    name,
    own.length,
    ...VERDICTS.map((verdict) => own.filter((one) => one.verdict === verdict).length),
  ]
  const rows = groups.map((name) =>
    row(
      name,
      judged.filter((one) => groupOf(one) === name),
    ),
  )
  return table([title, 'manifests', ...VERDICTS], [...rows, row('all', judged)])
}

await runProgram(async (later) => {
  const [checkout] = process.argv.slice(2)
  if (checkout === undefined || !existsSync(checkout)) {
    console.error('say where a checkout of Fluid is: npm run compare:fluid:manifests -- DIRECTORY')
    return 2
  }
  const manifests = manifestsBelow(checkout)
  if (manifests.length === 0) {
    console.error(`${checkout} has no manifest of Fluid's kinds`)
    return 1
  }
  const member = await startMemberServer()
  later(() => member.stop())
  const servers: Servers = { ours: new DryRun(clientOf(member.kubeconfig)) }
  const definitions = path.join(checkout, DEFINITIONS)
  const missing = existsSync(definitions) ? missingAssets(['kubectl']) : `no ${definitions}`
  if (missing === undefined) {
    const real = await startRealServer()
    later(() => real.stop())
    servers.theirs = await withDefinitions(real, definitions)
  } else console.log(`what Fluid refuses is not known: ${missing}`)
  const namespaces = new Set(manifests.flatMap(({ object }) => (object === undefined ? [] : [namespaceOf(object)])))
  for (const server of [servers.ours, servers.theirs]) await server?.ensureNamespaces(namespaces)

  const judged: Judged[] = []
  for (const manifest of manifests) judged.push(await judge(manifest, servers))

  console.log(counts('folder', judged, folderOf), '\n')
  console.log(counts('kind', judged, kindOf), '\n')
  for (const { manifest, verdict, reason } of judged.filter((one) => one.verdict !== 'accepted'))
    console.log(`${manifest.file}:${manifest.line}: ${verdict}: ${reason}`)
  const disagreements = judged.filter(({ verdict }) => DISAGREEMENTS.includes(verdict)).length
  console.log(`${judged.length} manifests, ${disagreements} of them judged differently`)
  return disagreements === 0 ? 0 : 1
})
