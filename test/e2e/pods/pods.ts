/** Pods in the default configuration, from the first start to the last stop, for a user who has read the README. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { recordedKubectl } from '../../machine/assets.ts'
import type { Program } from '../../machine/program.ts'
import { namespacesRefusal, Person } from '../person.ts'
import { accessAndFiles } from './access-and-files.ts'
import { commandsInPods } from './commands.ts'
import { jobsAndLogs } from './jobs-and-logs.ts'
import { Place } from './place.ts'
import { makeImage, placement } from './placement.ts'
import { mountsInto, namesOutside, processesOf } from './processes.ts'
import { whereNamespacesAreRefused } from './refused.ts'
import { restarts } from './restarts.ts'
import { servers } from './servers.ts'
import { simulatedNodes } from './simulated-nodes.ts'

/** As many at once as keep two cores busy with waiting. */
const CONCURRENCY = 4

export function podsOf(name: string, uid: number | undefined, program: () => Program): void {
  const kubectl = recordedKubectl()
  const refusal = namespacesRefusal(uid)
  if (kubectl === undefined || refusal !== undefined) {
    const skip = refusal === undefined ? 'no kubectl here (scripts/kube-assets/build makes one)' : `namespaces are refused here: ${refusal}`
    it('pods', { skip }, () => undefined)
    return
  }
  let person: Person
  let place: Place
  let outside: string[]
  const current = (): Place => place

  before(async () => {
    person = new Person(name, program().file, uid)
    person.bring('kubectl', kubectl.path)
    place = new Place(person, person.file('data'))
    const image = await makeImage(place)
    outside = namesOutside(person.home)
    await place.up(...image)
  })
  after(() => person.leave(person.file('data'), person.file('played'), person.file('refused')))

  describe('while it runs', { concurrency: CONCURRENCY }, () => {
    servers(current)
    jobsAndLogs(current)
    accessAndFiles(current)
    commandsInPods(current)
    placement(current)
  })

  describe('when it ends and starts again', () => restarts(current))

  it('nothing was made outside the data directory, and nothing of it says what it should not', () => {
    const mine = ['data', '.kube'].map((entry) => `${person.home}: ${entry}`)
    assert.deepEqual(
      namesOutside(person.home).filter((one) => !outside.includes(one) && !mine.includes(one)),
      [],
    )
    assert.deepEqual(mountsInto(place.dir), [])
    assert.deepEqual(processesOf(place.dir), [])
    assert.doesNotMatch(place.log(), /\n {4}at |error/i)
    for (const member of readdirSync(path.join(place.dir, 'members')))
      assert.ok(existsSync(path.join(place.dir, 'members', member, 'pods')))
  })

  it('number, size and life of simulated nodes are options, and are kept', () => simulatedNodes(person, person.file('played')))

  it('where the system refuses namespaces, a pod with mounts says what to allow', (t) =>
    whereNamespacesAreRefused(t, person, person.file('refused')))
}
