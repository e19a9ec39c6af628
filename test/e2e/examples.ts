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
const FOLDERS = ['examples/fleet', 'examples/data'].filter((folder) => folder.includes(values.only))
const PATIENCE_MS = 90_000
const kubectl = recordedKubectl()
const skip = kubectl === undefined ? 'no kubectl here (scripts/kube-assets/build makes one)' : false

let program: Program
before(async () => {
  program = await privateProgram()
})
after(() => program.remove())

for (const folder of FOLDERS)
  describe(folder, { skip }, () => {
    let person: Person
    let isBroken = false

    before(() => {
      person = new Person('a reader', program.file, undefined)
      person.bring('kubectl', kubectl?.path ?? '')
      person.bring('s3rver', path.resolve('node_modules/.bin/s3rver'))
      cpSync(folder, person.home, { recursive: true })
      writeFileSync(person.file('bin', 'sluice'), wrapper(person))
      chmodSync(person.file('bin', 'sluice'), 0o755)
    })
    after(async () => {
      endBackground(person.file('s3rver.pid'))
      await person.leave(person.file('.sluice'))
    })

    for (const step of stepsOf(readFileSync(path.join(folder, 'README.md'), 'utf8')))
      it(`line ${step.line}: ${step.commands.split('\n')[0]}`, async (t) => {
        // After a failed step, nothing can match the page.
        if (isBroken) return t.skip('a step before it failed')
        isBroken = true
        await typed(person, step)
        isBroken = false
      })
  })

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

async function typed(person: Person, { commands, expected }: WalkStep): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const known = existsSync(person.file('.sluice', 'kubeconfig')) ? 'export KUBECONFIG=$PWD/.sluice/kubeconfig' : ':'
    const { exitCode, stdout } = await person.run('bash', '-c', `exec 2>&1; set -e; ${known}\n${commands}`)
    const problem = exitCode === 0 ? difference(expected ?? '…', stdout) : `exit code ${exitCode}`
    if (problem === undefined) return
    if (expected === undefined || performance.now() > deadline) assert.fail(`${problem}\n\n${commands}\n\n${stdout}`)
    await sleep(500)
  }
}
