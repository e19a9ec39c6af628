/** A dataset with a directory and a film of a web server, which another namespace reads too, and what its cache says of itself. */
import assert from 'node:assert/strict'
import { bytesText } from '../../../src/cache/master/report.ts'
import { type CacheReport, cacheReport, type WorkerFigures, workerFigures } from './cache-figures.ts'
import { differences, fillDirectory, randomBytes, type Sums, sumOf, sumsIn } from './contents.ts'
import type { Desk, Place, Where } from './desk.ts'
import { FILM_BYTES } from './film.ts'
import { dataset, grant, namespace, reference, spreadRuntime, within } from './manifests.ts'
import { WebServer } from './web-server.ts'

/** Where the dataset is, and where those are who only refer to it. */
export const OWNER = 'studio'
export const GUEST = 'cinema'
export const WORKERS = 3
const FILM = 'film/film'

export interface ReelsOptions {
  member: string
  name: string
  amount: { files: number; bytes: number }
  /** Of the runtime. */
  annotations?: Record<string, string>
}

export class Reels {
  readonly #desk: Desk
  readonly #options: ReelsOptions
  readonly web: WebServer
  readonly owner: Place
  readonly guest: Place
  readonly name: string
  #sums: Sums = new Map()
  #film: Buffer

  constructor(desk: Desk, options: ReelsOptions) {
    this.#desk = desk
    this.#options = options
    this.name = options.name
    this.#film = randomBytes(FILM_BYTES)
    this.web = new WebServer(this.#film)
    this.owner = { member: options.member, namespace: OWNER }
    this.guest = { member: options.member, namespace: GUEST }
  }

  node = (number: number): string => `${this.#options.member}-process-${number}`

  get bytes(): number {
    return this.#options.amount.bytes + FILM_BYTES
  }

  /** With the film as it is now. */
  get sums(): Sums {
    return new Map([...this.#sums, [FILM, sumOf(this.#film)]])
  }

  /** Of what is not the film. */
  get scenes(): Sums {
    return new Map([...this.#sums].map(([file, sum]) => [file.replace(/^scenes\//, ''), sum]))
  }

  async make(): Promise<void> {
    const { member, name, amount, annotations } = this.#options
    const directory = this.#desk.directory('reels', name)
    this.#sums = new Map([...fillDirectory(this.#desk, directory, amount)].map(([file, sum]) => [`scenes/${file}`, sum]))
    const mounts = [
      { mountPoint: `local://${directory}`, name: 'scenes', path: '/scenes' },
      { mountPoint: this.web.url, name: 'film', path: '/film' },
    ]
    const quota = `${Math.ceil((this.bytes * 1.5) / 2 ** 20)}Mi`
    await this.#desk.apply(member, ...[OWNER, GUEST].map(namespace))
    await this.#desk.apply(
      member,
      ...within(
        OWNER,
        grant('may-refer', GUEST),
        dataset(name, mounts, { quota: '' }),
        spreadRuntime(name, { replicas: WORKERS, quota }, annotations),
      ),
      ...within(GUEST, reference(name, `${OWNER}/${name}`)),
    )
  }

  /** Blocks are where they belong: nobody joins any more. */
  async complete(): Promise<void> {
    await this.#desk.bound(this.owner, this.name)
    const serving = async () => (await this.report()).workers.filter(({ state }) => state === 'serving').length
    await this.#desk.sees('the workers', async () => String(await serving()), new RegExp(`^${WORKERS}$`))
  }

  /** Whoever reads from now on waits for the rest of the new film, when the cache knows of it. */
  async replaceFilm(): Promise<void> {
    const { revision } = await this.report()
    this.#film = randomBytes(FILM_BYTES)
    this.web.change(this.#film)
    this.web.hold()
    await this.#desk.sees('the revision', async () => String((await this.report()).revision), new RegExp(`^(?!${revision}$)`))
  }

  report = (): Promise<CacheReport> => cacheReport(this.#desk, this.owner, this.name)

  async workers(): Promise<string[]> {
    const pods = await this.#desk.kubectl(this.owner, 'get', 'pods', '-o', 'name')
    return [...pods.matchAll(new RegExp(`^pod/(${this.name}-worker-\\d+)$`, 'gm'))].map(([, name = '']) => name)
  }

  /** Of all workers together. */
  async figures(): Promise<Pick<WorkerFigures, 'usedBytes' | 'sourceBytes'>> {
    const all = await Promise.all((await this.workers()).map((name) => workerFigures(this.#desk, this.owner, name)))
    const sum = (of: (one: WorkerFigures) => number): number => all.reduce((total, one) => total + of(one), 0)
    return { usedBytes: sum(({ usedBytes }) => usedBytes), sourceBytes: sum(({ sourceBytes }) => sourceBytes) }
  }

  /** The first checksums of a pod that sums for ever. */
  async firstSums(where: Where, pod: string): Promise<Sums> {
    await this.#desk.until(where, `pod/${pod}`, '.status.phase', 'Running')
    return sumsIn(await this.#desk.sees(`the sums of ${pod}`, () => this.#logs(where, pod), /^all$/m))
  }

  /** Since its first checksums it has found the same each time, and it goes on. */
  async staysSame(where: Where, pod: string): Promise<number> {
    const rounds = async (): Promise<number> => {
      const log = await this.#logs(where, pod)
      assert.doesNotMatch(log, /^different$/m, pod)
      return [...log.matchAll(/^same$/gm)].length
    }
    const before = await rounds()
    await this.#desk.sees(`more sums of ${pod}`, async () => ((await rounds()) > before ? 'more' : ''), /more/)
    const state = await this.#desk.field(where, `pod/${pod}`, '.status.phase} {.status.containerStatuses[*].restartCount')
    assert.equal(state, 'Running 0', pod)
    return rounds()
  }

  async events(reason: string): Promise<string[]> {
    const selector = `involvedObject.kind=CacheRuntime,involvedObject.name=${this.name},reason=${reason}`
    const said = await this.#desk.kubectl(
      this.owner,
      'get',
      'events',
      '--field-selector',
      selector,
      '-o',
      'jsonpath={range .items[*]}{.message}{"\\n"}{end}',
    )
    return said.split('\n').filter((line) => line !== '')
  }

  /** What those handed over who have left. */
  async handedOver(): Promise<{ moved: number; dropped: number; left: number }> {
    const total = { moved: 0, dropped: 0, left: 0 }
    for (const message of await this.events('WorkerLeaves')) {
      const [, moved, dropped, left] = /(\d+) bytes were handed over, (\d+) found no room, (\d+) were left/.exec(message) ?? []
      assert.ok(moved !== undefined, message)
      total.moved += Number(moved)
      total.dropped += Number(dropped)
      total.left += Number(left)
    }
    return total
  }

  #logs = (where: Where, pod: string): Promise<string> => this.#desk.kubectl(where, 'logs', pod)
}

export const sameFiles = (found: Sums, expected: Sums): void => assert.deepEqual(differences(found, expected), [])

export const inWords = ({ moved, dropped, left }: { moved: number; dropped: number; left: number }): string =>
  `${bytesText(moved)} moved, ${bytesText(dropped)} dropped, ${bytesText(left)} left`
