/** What happens to the sources: a first content of about the wanted size, then small changes of every kind, in bursts. */
import type { Random } from '../../../src/base/random.ts'
import type { Bucket } from './bucket.ts'
import type { Contents } from './contents.ts'
import type { LocalFiles } from './local-files.ts'

const MIB = 1024 * 1024
const SMALL_DIRECTORIES = 8
const SMALL_FILES = 24
const LARGE_FILES = 6
const OBJECTS = 8
const SMALL_OBJECTS = 12
const LOCAL_SHARE = 0.6

export interface SourcesOptions {
  local: LocalFiles
  bucket: Bucket
  contents: Contents
  random: Random
  megabytes: number
}

export class Sources {
  readonly #options: SourcesOptions
  #changes = 0

  constructor(options: SourcesOptions) {
    this.#options = options
  }

  get changes(): number {
    return this.#changes
  }

  async begin(): Promise<void> {
    const { local, bucket } = this.#options
    for (let d = 0; d < SMALL_DIRECTORIES; d++)
      for (let f = 0; f < SMALL_FILES; f++) local.put(`small/d${d}/f${f}`, f === 0 ? 0 : this.#below(6000))
    for (let f = 0; f < LARGE_FILES; f++) local.put(`large/l${f}`, this.#largeSize())
    for (let o = 0; o < OBJECTS; o++) await bucket.put(`${o % 2 === 0 ? 'a' : 'b'}/o${o}`, this.#objectSize())
    for (let o = 0; o < SMALL_OBJECTS; o++) await bucket.put(`a/small/s${o}`, 1 + this.#below(9000))
  }

  /** A few changes at once. */
  async burst(): Promise<void> {
    for (let left = 1 + this.#below(4); left > 0; left--) {
      await this.#change()
      this.#changes++
    }
  }

  async #change(): Promise<void> {
    const { local, bucket, contents } = this.#options
    const kinds: (() => Promise<void> | void)[] = [
      () => local.put(this.#pick(local.files('small')), this.#below(6000)),
      () => local.put(this.#pick(local.files('large')), this.#largeSize()),
      () => local.append(this.#pick(local.files('large')), 1 + this.#below(100_000)),
      () => local.append(this.#pick(local.files('small')), 1 + this.#below(100)),
      () => local.put(`small/d${this.#below(SMALL_DIRECTORIES)}/f${this.#below(2 * SMALL_FILES)}`, this.#below(6000)),
      () => this.#shrink(),
      () => this.#move(),
      // A file where a directory was, and the other way round.
      () => local.put(`small/d${this.#below(SMALL_DIRECTORIES)}`, this.#below(3000)),
      () => local.put(`small/d${this.#below(SMALL_DIRECTORIES)}/deep/er/f${this.#below(9)}`, this.#below(3000)),
      () => bucket.put(`a/small/s${this.#below(2 * SMALL_OBJECTS)}`, 1 + this.#below(9000)),
      () => bucket.remove(`a/small/s${this.#below(2 * SMALL_OBJECTS)}`),
      () => {
        const o = this.#below(OBJECTS)
        return bucket.put(`${o % 2 === 0 ? 'a' : 'b'}/o${o}`, this.#objectSize())
      },
      // The same length: only the ETag differs.
      () => bucket.put('b/o1', contents.current('/objects/b/o1')?.size ?? this.#objectSize()),
      () => bucket.put('b/both', 1 + this.#below(5000)),
      () => (this.#below(2) === 0 ? bucket.put('b/both/inner', 1 + this.#below(5000)) : bucket.remove('b/both/inner')),
    ]
    await this.#pick(kinds)()
  }

  /** Files go, one or a directory of them; so many stay that there is always something to do. */
  #shrink(): void {
    const { local } = this.#options
    const files = local.files('small')
    if (files.length < (SMALL_DIRECTORIES * SMALL_FILES) / 3) {
      const d = this.#below(SMALL_DIRECTORIES)
      for (let f = 0; f < SMALL_FILES; f++) local.put(`small/d${d}/f${f}`, this.#below(6000))
    } else {
      const directory = local.directories('small')[this.#below(2 * SMALL_DIRECTORIES)]
      local.remove(directory ?? this.#pick(files))
    }
  }

  #move(): void {
    const { local } = this.#options
    const [from, to] = [local.directories('small')[this.#below(SMALL_DIRECTORIES)], `small/moved${this.#below(4)}`]
    if (from !== undefined && from !== to) local.moveDirectory(from, to)
  }

  #largeSize(): number {
    return this.#around((this.#options.megabytes * LOCAL_SHARE * MIB) / LARGE_FILES)
  }

  #objectSize(): number {
    return this.#around((this.#options.megabytes * (1 - LOCAL_SHARE) * MIB) / OBJECTS)
  }

  #around(bytes: number): number {
    return Math.floor(bytes * (0.8 + 0.4 * this.#options.random.next()))
  }

  #below(most: number): number {
    return Math.floor(this.#options.random.next() * most)
  }

  #pick<T>(from: readonly T[]): T {
    const found = from[this.#below(from.length)]
    if (found === undefined) throw new Error('there is nothing to choose from')
    return found
  }
}
