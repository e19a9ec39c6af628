/**
 * Runs the walks through examples as a user who types them: every command in order, its output compared with the page. What
 * takes a moment is repeated until it matches. Run with: npm run test:examples [-- --only data]
 */
import assert from 'node:assert/strict'
import { chmodSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { recordedKubectl } from '../machine/assets.ts'
import { type Program, privateProgram } from '../machine/program.ts'
import { Person } from './person.ts'
import { difference, stepsOf, type WalkStep } from './walk.ts'

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
const isAsked = (folder: string): boolean => folder.includes(values.only)
/** Each starts Sluice in its own folder, and ends it. */
const WHOLE = ['examples/fleet', 'examples/data'].filter(isAsked)
/** Somebody has started Sluice: these go on from there, and do not disturb each other. */
const GOING_ON = ['examples/data/sharing', 'examples/data/scale-in', 'examples/seeds/000', 'examples/seeds/002'].filter(isAsked)
const PATIENCE_MS = 90_000
const kubectl = recordedKubectl()
const skip = kubectl === undefined ? 'no kubectl here (scripts/kube-assets/build makes one)' : false

let program: Program
before(async () => {
  program = await privateProgram()
})
after(() => program.remove())

for (const folder of WHOLE)
  describe(folder, { skip }, () => {
    let reader: Person
    before(() => {
      reader = aReader()
      cpSync(folder, reader.home, { recursive: true })
    })
    after(async () => {
      endBackground(reader.file('s3rver.pid'))
      await reader.leave(reader.file('.sluice'))
    })
    walk(folder, () => ({ person: reader, folder: reader.home }))
  })

describe('with Sluice running', { skip: skip || GOING_ON.length === 0, concurrency: true }, () => {
  let reader: Person
  before(async () => {
    reader = aReader()
    cpSync('examples', reader.file('examples'), { recursive: true })
    const up = await reader.sluice('up', '--quiet', '--detach', '--port', '0')
    assert.equal(up.exitCode, 0, up.stderr)
    const config = ['--kubeconfig', reader.file('.sluice', 'kubeconfig'), 'config', 'use-context', 'member1']
    const chosen = await reader.run('kubectl', ...config)
    assert.equal(chosen.exitCode, 0, chosen.stderr)
  })
  after(() => reader.leave(reader.file('.sluice')))
  for (const folder of GOING_ON)
    describe(folder, { concurrency: 1 }, () => walk(folder, () => ({ person: reader, folder: reader.file(folder) })))
})

function aReader(): Person {
  const person = new Person('a reader', program.file, undefined)
  person.bring('kubectl', kubectl?.path ?? '')
  person.bring('s3rver', path.resolve('node_modules/.bin/s3rver'))
  writeFileSync(person.file('bin', 'sluice'), wrapper(person))
  chmodSync(person.file('bin', 'sluice'), 0o755)
  return person
}

/** Where somebody types. */
interface Place {
  person: Person
  folder: string
}

function walk(folder: string, place: () => Place): void {
  let isBroken = false
  for (const step of stepsOf(readFileSync(path.join(folder, 'README.md'), 'utf8')))
    it(`line ${step.line}: ${step.commands.split('\n')[0]}`, async (t) => {
      // After a failed step, nothing can match the page.
      if (isBroken) return t.skip('a step before it failed')
      isBroken = true
      await typed(place(), step)
      isBroken = false
    })
}

/** What a page has started in the background, and has not come to its end to stop. */
function endBackground(file: string): void {
  if (!existsSync(file)) return
  const pid = Number(readFileSync(file, 'utf8'))
  if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGTERM')
}

/** The program as the page calls it, on free ports: several may run at once. */
const wrapper = (person: Person): string => `#!/bin/sh
command=$1
shift
[ "$command" = up ] && set -- "$@" --port 0
exec ${person
  .commandOf()
  .map((word) => `'${word}'`)
  .join(' ')} "$command" "$@"
`

async function typed({ person, folder }: Place, { commands, expected }: WalkStep): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const kubeconfig = person.file('.sluice', 'kubeconfig')
    const known = existsSync(kubeconfig) ? `export KUBECONFIG='${kubeconfig}'` : ':'
    const { exitCode, stdout } = await person.run('bash', '-c', `exec 2>&1; set -e; cd '${folder}'; ${known}\n${commands}`)
    const problem = exitCode === 0 ? difference(expected ?? '…', stdout) : `exit code ${exitCode}`
    if (problem === undefined) return
    if (expected === undefined || performance.now() > deadline) assert.fail(`${problem}\n\n${commands}\n\n${stdout}`)
    await sleep(500)
  }
}
