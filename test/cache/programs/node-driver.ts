/**
 * A node of the proof: does what the CSI driver does on it (requests, users of generations) and judges what the client completes.
 * A generation is claimed before it is read, as for a pod; some claims are kept, and what they hold must stay as it was.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../src/base/random.ts'
import { type Layout, layoutOf } from '../../../src/cache/client/layout.ts'
import { requestIdOf, type VolumeState } from '../../../src/kube/materialised-volume.ts'
import type { Checks } from '../checks.ts'
import type { Content, Contents } from './contents.ts'
import { differenceOf, type GenerationPlace, judgeGeneration } from './generation-judge.ts'
import type { PromiseName } from './promises.ts'

export interface NodeOptions {
  name: string
  directory: string
  /** Always wanted. */
  steady: readonly string[]
  /** Wanted now and then. */
  passing: readonly string[]
  /** Wanted, but the client's namespace may not read them. */
  refused: readonly string[]
  contents: Contents
  checks: Checks<PromiseName>
  random: Random
}

interface Claim {
  subPath: string
  number: number
  user: string
}

const MOST_KEPT = 3
const KEEP_SHARE = 0.3
const SETTLE_MS = 90_000
const CLEAR_MS = 20_000

export class NodeDriver {
  readonly figures = { generations: 0, bytes: 0, refusedClaims: 0, wentBack: 0 }
  readonly #options: NodeOptions
  readonly #layout: Layout
  readonly #wanted = new Set<string>()
  /** Generations that were judged, by directory and its identity. */
  readonly #judged = new Set<string>()
  readonly #newest = new Map<string, ReadonlyMap<string, Content>>()
  #claims: Claim[] = []
  #pods = 0

  constructor(options: NodeOptions) {
    this.#options = options
    this.#layout = layoutOf(options.directory)
    mkdirSync(this.#layout.requests, { recursive: true })
    for (const subPath of [...options.steady, ...options.passing, ...options.refused]) this.#request(subPath)
  }

  /** What is new is judged; what is in use is there. */
  async look(): Promise<void> {
    const { checks, refused } = this.#options
    for (const { subPath, number, user } of this.#claims) {
      const isThere = existsSync(this.#layout.generation(requestIdOf(subPath), number))
      checks.judge('kept', isThere ? undefined : `${this.#options.name}: generation ${number} of ${subPath} went though ${user} uses it`)
    }
    for (const subPath of refused) {
      const { generation = 0, directory } = this.#stateOf(subPath) ?? {}
      checks.judge('access', generation === 0 ? undefined : `${this.#options.name} got ${subPath} in ${directory}`)
    }
    for (const subPath of this.#wanted) if (!refused.includes(subPath)) await this.#judgeNew(subPath)
  }

  /** A passing volume comes or goes; its pods go first, but not always all of them. */
  flip(): void {
    const { passing, random } = this.#options
    const subPath = passing[Math.floor(random.next() * passing.length)]
    if (subPath === undefined) return
    if (!this.#wanted.has(subPath)) return void this.#request(subPath)
    this.#release((claim) => claim.subPath === subPath && random.next() < 0.8)
    this.#withdraw(subPath)
  }

  /** All volumes are wanted, and become what the sources are now. */
  async settle(): Promise<void> {
    const { checks, steady, passing, contents, name } = this.#options
    for (const subPath of [...steady, ...passing]) this.#request(subPath)
    const untilMs = performance.now() + SETTLE_MS
    for (const subPath of [...steady, ...passing]) {
      let why: string | undefined = 'it was not looked at'
      while (why !== undefined && performance.now() < untilMs) {
        await this.look()
        why = this.#whyNotNewest(subPath)
        if (why !== undefined) await sleep(100)
      }
      const files = contents.newestBelow(subPath).size
      checks.judge('newest', why === undefined ? undefined : `${name}: ${subPath} (${files} files): ${why}`)
    }
  }

  /** Everything in use once more, byte by byte. */
  async judgeKept(): Promise<void> {
    for (const { subPath, number } of this.#claims) {
      const { problems } = await judgeGeneration(this.#place(subPath, number), this.#options.contents)
      for (const problem of problems) this.#options.checks.fail('kept', problem)
    }
  }

  /** Nobody wants anything any more: what is left of it. */
  async clear(): Promise<string[]> {
    this.#release(() => true)
    for (const subPath of [...this.#wanted]) this.#withdraw(subPath)
    const untilMs = performance.now() + CLEAR_MS
    for (;;) {
      const left = ['generations', 'records', 'states', 'users', 'partial'].flatMap((part) => filesIn(path.join(this.#layout.root, part)))
      if (left.length === 0 || performance.now() > untilMs) return left
      await sleep(50)
    }
  }

  get claims(): number {
    return this.#claims.length
  }

  async #judgeNew(subPath: string): Promise<void> {
    const { checks, contents, random, name } = this.#options
    const state = this.#stateOf(subPath)
    if (state === undefined || state.generation === 0) return
    const place = this.#place(subPath, state.generation)
    const key = identityOf(place.directory)
    if (key === undefined || this.#judged.has(key)) return
    const claim = this.#claim(subPath, state.generation)
    if (claim === undefined) return
    const verdict = await judgeGeneration(place, contents)
    this.#judged.add(key)
    this.figures.generations++
    this.figures.bytes += verdict.bytes
    checks.saw('files', verdict.files.size)
    for (const problem of verdict.problems) checks.fail('files', `${name}: ${problem}`)
    this.#noteOrder(subPath, verdict.files)
    const kept = this.#claims.filter((other) => other.subPath === subPath)
    if (kept.length > MOST_KEPT) this.#release((other) => other === kept[Math.floor(random.next() * kept.length)])
    else if (random.next() > KEEP_SHARE) this.#release((other) => other === claim)
  }

  /** A file that has an older content than it had before was not lost, but somebody saw time run backwards. */
  #noteOrder(subPath: string, files: ReadonlyMap<string, Content>): void {
    const before = this.#newest.get(subPath)
    this.#newest.set(subPath, files)
    for (const [relative, { order }] of files) if (order < (before?.get(relative)?.order ?? 0)) this.figures.wentBack++
  }

  #whyNotNewest(subPath: string): string | undefined {
    const { contents } = this.#options
    const state = this.#stateOf(subPath)
    if (state?.state !== 'ready') return `it is ${state?.state ?? 'unknown'}: ${state?.message ?? ''}`
    const files = this.#newest.get(subPath)
    if (files === undefined) return 'no generation was seen'
    const difference = differenceOf(files, contents.newestBelow(subPath))
    return difference === undefined ? undefined : `${difference}; ${state.message ?? 'no message'}`
  }

  /** First its use is written, then it is looked whether there is still something to use. */
  #claim(subPath: string, number: number): Claim | undefined {
    const id = requestIdOf(subPath)
    const user = `pod-${this.#pods++}`
    try {
      mkdirSync(this.#layout.users(id, number), { recursive: true })
      writeFileSync(path.join(this.#layout.users(id, number), user), '')
    } catch (error) {
      // The client removes the directory just now.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
    const claim = { subPath, number, user }
    if (existsSync(this.#layout.generation(id, number)) && existsSync(this.#userFile(claim))) {
      this.#claims.push(claim)
      return claim
    }
    this.figures.refusedClaims++
    rmSync(this.#userFile(claim), { force: true })
    return undefined
  }

  #release(isOver: (claim: Claim) => boolean): void {
    const over = this.#claims.filter(isOver)
    this.#claims = this.#claims.filter((claim) => !over.includes(claim))
    for (const claim of over) rmSync(this.#userFile(claim), { force: true })
  }

  #userFile({ subPath, number, user }: Claim): string {
    return path.join(this.#layout.users(requestIdOf(subPath), number), user)
  }

  #place(subPath: string, number: number): GenerationPlace {
    const id = requestIdOf(subPath)
    return { subPath, directory: this.#layout.generation(id, number), record: this.#layout.record(id, number) }
  }

  #request(subPath: string): void {
    this.#wanted.add(subPath)
    writeFileSync(path.join(this.#layout.requests, `${requestIdOf(subPath)}.json`), JSON.stringify({ subPath }))
  }

  #withdraw(subPath: string): void {
    this.#wanted.delete(subPath)
    rmSync(path.join(this.#layout.requests, `${requestIdOf(subPath)}.json`), { force: true })
  }

  #stateOf(subPath: string): VolumeState | undefined {
    const file = this.#layout.stateFile(requestIdOf(subPath))
    let text: string
    try {
      text = readFileSync(file, 'utf8')
    } catch {
      return undefined
    }
    try {
      return JSON.parse(text) as VolumeState
    } catch {
      this.#options.checks.fail('files', `${file} is not whole: ${text.slice(0, 200)}`)
      return undefined
    }
  }
}

function identityOf(directory: string): string | undefined {
  const stat = statSync(directory, { throwIfNoEntry: false })
  return stat === undefined ? undefined : `${directory} ${stat.ino} ${stat.birthtimeMs}`
}

/** Whatever is no directory; the client may be removing it just now. */
function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
      const found = path.join(directory, entry.name)
      return entry.isDirectory() ? filesIn(found) : [found]
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
