/**
 * Runs examples/fleet/README.md as a user who types it: every command in order, its output compared with the page. What
 * takes a moment is repeated until it matches. Run with: npm run test:examples
 */
import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordedKubectl } from '../machine/assets.ts'
import { type Program, privateProgram } from '../machine/program.ts'
import { difference, stepsOf, type WalkStep } from './fleet-walk.ts'
import { Person } from './person.ts'

const FOLDER = path.resolve('examples/fleet')
const PATIENCE_MS = 90_000
const kubectl = recordedKubectl()

describe('examples/fleet', { skip: kubectl === undefined ? 'no kubectl here (scripts/kube-assets/build makes one)' : false }, () => {
  let program: Program
  let person: Person
  let isBroken = false

  before(async () => {
    program = await privateProgram()
    person = new Person('a reader', program.file, undefined)
    person.bring('kubectl', kubectl?.path ?? '')
    for (const name of readdirSync(FOLDER)) copyFileSync(path.join(FOLDER, name), person.file(name))
    writeFileSync(person.file('bin', 'sluice'), wrapper(person))
    chmodSync(person.file('bin', 'sluice'), 0o755)
  })
  after(async () => {
    await person.leave(person.file('.sluice'))
    program.remove()
  })

  for (const step of stepsOf(readFileSync(path.join(FOLDER, 'README.md'), 'utf8')))
    it(`line ${step.line}: ${step.commands.split('\n')[0]}`, async (t) => {
      // After a failed step, nothing can match the page.
      if (isBroken) return t.skip('a step before it failed')
      isBroken = true
      await typed(person, step)
      isBroken = false
    })
})

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
