/**
 * Datasets as their user meets them, with sluice and kubectl, as root and as a plain user: files, buckets, writes, changes, bad
 * input, a worker that leaves, one cache of two namespaces that shrinks under its readers, Sluice killed while a volume fills, and
 * the chapter of the story. Run with: npm run test:e2e:data [-- --full | --matrix | --as root | --only sharing]. --full takes 10,000
 * files and 2 GB, and tells all chapters of a first start; --matrix runs everything on Node 20, 22 and 24, and prints how long each took.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { otherKubectls, recordedKubectl } from '../machine/assets.ts'
import { type Program, privateProgram } from '../machine/program.ts'
import { Bucket } from './data/bucket.ts'
import { bucketStories } from './data/bucket-stories.ts'
import { coLocatedStories } from './data/co-located-stories.ts'
import { randomBytes } from './data/contents.ts'
import { Desk } from './data/desk.ts'
import { directoryStories } from './data/directory-stories.ts'
import { endingStories } from './data/ending-stories.ts'
import { FILM_BYTES } from './data/film.ts'
import { Reels } from './data/reels.ts'
import type { Scene, SharedDataset } from './data/scene.ts'
import { sharingStories } from './data/sharing-stories.ts'
import { WebServer } from './data/web-server.ts'
import { writingStories } from './data/writing-stories.ts'
import { namespacesRefusal, Person, people } from './person.ts'

const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    matrix: { type: 'boolean', default: false },
    as: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
  },
})
/** Of what two namespaces read, beside a film. */
const SHARED = values.full ? { files: 200, bytes: 2_000_000_000 } : { files: 40, bytes: 52_000_000 }
const CO_LOCATED = { files: 20, bytes: 8_000_000 }
const NODES = ['20', '22', '24']
const AMOUNT = values.full ? { files: 10_000, bytes: 2_000_000_000 } : { files: 1000, bytes: 40_000_000 }
const PARTS = {
  'a directory': directoryStories,
  'a bucket': bucketStories,
  writing: writingStories,
  'sharing, and fewer workers': sharingStories,
  'fewer workers beside readers, sharing': coLocatedStories,
}
/** The parts that leave a shared dataset for the end. */
const SHARING: Readonly<Record<SharedDataset, keyof typeof PARTS>> = {
  reels: 'sharing, and fewer workers',
  duet: 'fewer workers beside readers, sharing',
}
const isChosen = (part: string): boolean => part.includes(values.only)
/** Concurrency would be inherited. */
const IN_ORDER = { concurrency: 1 }
const kubectl = recordedKubectl() ?? otherKubectls()[0]
const skip = kubectl === undefined ? 'no kubectl of 1.28 or newer here (scripts/kube-assets/build makes one)' : false

if (values.matrix) onEveryNode()
else stories()

function stories(): void {
  const everybody = people()
    .filter((who) => who.name.includes(values.as))
    .map((who) => ({ ...who, skip: skip || (namespacesRefusal(who.uid) ?? false) }))
  let program: Program
  before(async () => {
    program = await privateProgram()
  })
  after(() => program.remove())

  for (const { name, uid, skip: reason } of everybody)
    describe(`datasets of ${name}`, { skip: reason }, () => {
      let scene: Scene
      before(async () => {
        const desk = new Desk({ name, uid, program: program.file, kubectl: kubectl?.path ?? '', slowness: values.full ? 6 : 1 })
        const bucket = new Bucket(desk.person.file('s3'))
        const web = new WebServer(randomBytes(FILM_BYTES))
        const reels = new Reels(desk, { member: 'member2', name: 'reels', amount: SHARED })
        const duet = new Reels(desk, {
          ...{ member: 'member3', name: 'duet', amount: CO_LOCATED },
          annotations: { 'sluice.dev/fuse-global': 'false' },
        })
        scene = { desk, bucket, web, reels, duet, amount: AMOUNT }
        await Promise.all([bucket.start(), web.start(), reels.web.start(), duet.web.start(), desk.up()])
      })
      after(async () => {
        for (const web of [scene.web, scene.reels.web, scene.duet.web]) web.close()
        await scene.bucket.close()
        await scene.desk.person.leave(scene.desk.dir)
      })

      describe('in three members at once', { concurrency: true }, () => {
        for (const [what, part] of Object.entries(PARTS)) if (isChosen(what)) describe(what, IN_ORDER, () => part(() => scene))
      })
      const shared = (Object.keys(SHARING) as SharedDataset[]).filter((name) => isChosen(SHARING[name]))
      describe('the end', () => endingStories(() => scene, shared))
    })

  const [{ name, uid, skip: reason } = { name: 'nobody', uid: undefined, skip: true }] = everybody
  describe(`the story, told to ${name}`, { skip: reason }, () => {
    let person: Person
    before(() => {
      person = new Person(name, program.file, uid)
    })
    after(() => person.leave(person.file('data'), person.file('first')))

    it('its chapter about data is told to its end, and ends with 0', async () => {
      const args = ['--story', 'data', '--exit', '--port', '0', '--data-dir', person.file('data')]
      const { exitCode, stdout, stderr } = await person.sluice('up', ...args)
      assert.equal(exitCode, 0, stdout + stderr)
      for (const line of DATA_CHAPTER) assert.match(stdout, line)
      assert.doesNotMatch(stdout + stderr, /warning|\n {4}at /i)
    })

    it('a first start tells of the fleet, the gate and data', {
      skip: values.full ? false : 'only with --full: each chapter has its own test',
    }, async () => {
      const started = person.foreground('up', '--port', '0', '--data-dir', person.file('first'))
      const isPlayed = (): boolean => ALL_CHAPTERS.every((line) => line.test(started.said()))
      while (!isPlayed() && started.child.exitCode === null) await sleep(100)
      for (const line of ALL_CHAPTERS) assert.match(started.said(), line)
    })
  })
}

const DATA_CHAPTER = [
  /Job shoot of member\d has written four files/,
  /it is Bound, 48\.00MiB/,
  /watch mounts claim film, and has read the same bytes/,
  /█{20} 100\.0% cached of 48\.00MiB/,
  /cinema mounts dataset:\/\/default\/film: its Job screen has read the same bytes/,
  /of these bytes none was fetched from the source/,
  /film-worker-0 is killed/,
  /watch-again has read the same bytes meanwhile/,
  /Worker film-worker-\d on node \S+ leaves: it was led out; \d+ bytes were handed over/,
  /screen-all-day has read it \d+ times by now, always the same bytes/,
  /screen-late of namespace cinema has read the same bytes from the worker that is left/,
]
const ALL_CHAPTERS = [/failover +web leaves member\d/, /collect has succeeded/, ...DATA_CHAPTER, /Sluice stays up/]

/** The same on other versions of Node, each with its time. */
function onEveryNode(): void {
  const args = ['scripts/run.mjs', 'test/e2e/data.ts', ...(values.full ? ['--full'] : [])]
  // The plain user runs this Node as well, and may not look into the home of whoever started the test.
  const cache = mkdtempSync(path.join(os.tmpdir(), 'sluice-e2e-nodes-'))
  chmodSync(cache, 0o755)
  const env = { ...process.env, npm_config_cache: cache }
  after(() => rmSync(cache, { recursive: true, force: true }))
  for (const version of NODES)
    it(`on Node ${version}`, (t) => {
      const beganMs = performance.now()
      const { status } = spawnSync('npm', ['exec', '--yes', `--package=node@${version}`, '--', 'node', ...args], { stdio: 'inherit', env })
      t.diagnostic(`Node ${version}: ${Math.round((performance.now() - beganMs) / 1000)} s`)
      assert.equal(status, 0)
    })
}
