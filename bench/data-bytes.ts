/**
 * Bytes through the programs of the builtin cache, beside `cp -r` from the source in the same run: a large and a small kind of files,
 * cold and warm, by a client on the worker's node and on another one; blocks alone, without the files that are made of them; and
 * reading what was made beside reading the source. CPU is of master, worker and client together, from /proc.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { seededRandom } from '../src/base/random.ts'
import type { Cleanup } from '../test/machine/interrupt.ts'
import { openBlockReader, readEach } from './data-block-reader.ts'
import { CacheScene, DATASET, type FillFigures, WORKER_NODE } from './data-bytes-scene.ts'

export interface FilesShape {
  name: string
  files: number
  bytesEach: number
}

export interface Spent {
  wallMs: number
  cpuMs: number
}

export interface BytesResult {
  shape: FilesShape
  copy: Spent
  fills: { what: string; figures: FillFigures }[]
  blocks: { what: string; spent: Spent }[]
  /** Reading every byte. */
  readSource: Spent
  readVolume: Spent
}

const MIB = 1024 * 1024
const FILES_PER_DIRECTORY = 100
const ROUNDS = 3
/** A client reads so many blocks at a time. */
const AT_A_TIME = 8
const REMOTE_NODE = 'n1'

export async function measureBytes(
  folder: string,
  shape: FilesShape,
  { later, profile }: { later: Cleanup; profile?: string },
): Promise<BytesResult> {
  const source = path.join(folder, 'source')
  makeFiles(source, shape)
  const bytes = shape.files * shape.bytesEach
  const scene = await CacheScene.open({ folder, source, quotaBytes: Math.ceil(bytes * 1.5) + 64 * MIB, profile })
  later(() => scene.close())
  const fills: BytesResult['fills'] = []
  const filled = async (what: string, node: string, use?: (directory: string) => Promise<void>): Promise<void> => {
    const figures = await scene.fill(node, use)
    fills.push({ what, figures })
    console.log(JSON.stringify({ shape: shape.name, what, ...figures }))
  }
  try {
    // The first copy is for the page cache.
    const copies = [await copied(source, path.join(folder, 'copy')), await copied(source, path.join(folder, 'copy'))].slice(1)
    await scene.start()
    await filled('cold, remote', REMOTE_NODE)
    copies.push(await copied(source, path.join(folder, 'copy')))
    await filled('warm, remote', REMOTE_NODE)
    const reads: { source: Spent[]; volume: Spent[] } = { source: [], volume: [] }
    await filled('warm, local', WORKER_NODE, async (directory) => {
      assertSame(source, directory)
      for (let round = 0; round < ROUNDS; round++) {
        reads.source.push(await readAll(source))
        reads.volume.push(await readAll(directory))
      }
    })
    const blocks = [
      { what: 'remote', spent: await middleOf(() => blocksRead(scene, REMOTE_NODE)) },
      { what: 'local', spent: await middleOf(() => blocksRead(scene, WORKER_NODE)) },
    ]
    console.log(JSON.stringify({ shape: shape.name, blocks }))
    await scene.stop()
    await scene.start()
    await filled('cold, local', WORKER_NODE)
    copies.push(await copied(source, path.join(folder, 'copy')))
    return { shape, copy: middle(copies), fills, blocks, readSource: middle(reads.source), readVolume: middle(reads.volume) }
  } finally {
    await scene.close()
  }
}

export const manyFiles = (files: number, mebibytes: number): FilesShape => ({
  name: `${files} files of ${mebibytes} MiB`,
  files,
  bytesEach: mebibytes * MIB,
})

/** Not compressible, and different everywhere. */
export function makeFiles(directory: string, { files, bytesEach }: FilesShape): void {
  const random = seededRandom(7)
  const piece = Buffer.from(random.bytes(Math.min(bytesEach, 4 * MIB)))
  for (let i = 0; i < files; i++) {
    const parent = path.join(directory, `part-${Math.floor(i / FILES_PER_DIRECTORY)}`)
    mkdirSync(parent, { recursive: true })
    const descriptor = openSync(path.join(parent, `file-${i}`), 'w')
    for (let at = 0; at < bytesEach; at += piece.length) {
      piece.writeUInt32LE(i, 0)
      piece.writeUInt32LE(at / piece.length, 4)
      writeSync(descriptor, piece, 0, Math.min(piece.length, bytesEach - at))
    }
    closeSync(descriptor)
  }
}

/** CPU of children that have ended, from /proc/self/stat. */
function childrenCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[13]) + Number(fields[14])) * 10
}

export async function run(command: string, args: string[], env: NodeJS.ProcessEnv = process.env): Promise<Spent> {
  const [began, before] = [performance.now(), childrenCpuMs()]
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`)
  return { wallMs: performance.now() - began, cpuMs: childrenCpuMs() - before }
}

export async function copied(source: string, to: string): Promise<Spent> {
  const spent = await run('cp', ['-r', source, to])
  rmSync(to, { recursive: true, force: true })
  return spent
}

export const readAll = (directory: string): Promise<Spent> =>
  run('sh', ['-c', 'find "$0" -type f -print0 | xargs -0 cat > /dev/null', directory])

export function middle(all: readonly Spent[]): Spent {
  const found = [...all].sort((a, b) => a.cpuMs - b.cpuMs)[Math.floor(all.length / 2)]
  if (found === undefined) throw new Error('nothing was measured')
  return found
}

async function middleOf(measure: () => Promise<Spent>): Promise<Spent> {
  const all: Spent[] = []
  for (let i = 0; i < ROUNDS; i++) all.push(await measure())
  return middle(all)
}

/** A sample of files has the bytes of the source. */
export function assertSame(source: string, directory: string): void {
  const sum = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')
  for (const part of readdirSync(source)) {
    const [name = ''] = readdirSync(path.join(source, part))
    if (sum(path.join(source, part, name)) !== sum(path.join(directory, part, name)))
      throw new Error(`${part}/${name} is not what it is at the source`)
  }
}

/** Every block into a buffer, as a client of this node does it: this process and the worker together. */
async function blocksRead(scene: CacheScene, node: string): Promise<Spent> {
  const tiers = node === WORKER_NODE ? [scene.tier] : []
  const reader = openBlockReader({ master: scene.masterAddress, dataset: DATASET, node, tiers, token: () => scene.token() })
  try {
    const wanted = await reader.blocks()
    const before = { own: process.cpuUsage(), worker: scene.cpu('worker') }
    const began = performance.now()
    await readEach(reader, wanted, AT_A_TIME)
    const { user, system } = process.cpuUsage(before.own)
    return { wallMs: performance.now() - began, cpuMs: (user + system) / 1000 + scene.cpu('worker') - before.worker }
  } finally {
    reader.close()
  }
}
