/**
 * What adding a module costs and brings: one folder (this one) and one line (`[...MODULES, toy]`, as in src/modules.ts). The
 * rest follows from the list: kinds, admission, controllers, flags, references, access rules, seams and seeded worlds.
 */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, it } from 'node:test'
import { seededRandom } from '../../src/base/random.ts'
import { fakeMachine } from '../../src/cli/fake-machine.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { referencePages } from '../../src/cli/reference/pages.ts'
import { ownAdmissionOf, ownKindsOf } from '../../src/composition.ts'
import { data } from '../../src/data/module.ts'
import { proveSeed } from '../../src/faultsim/seeded/prove-seed.ts'
import { beginningOf } from '../../src/faultsim/seeded/run-script.ts'
import { composedWorld } from '../../src/faultsim/seeded/worlds/composed.ts'
import { survives } from '../../src/faultsim/survives.ts'
import { aWorld } from '../../src/faultsim/world/index.ts'
import { explainObject } from '../../src/fleet/explain/index.ts'
import type { ResourceBinding } from '../../src/kinds/karmada/index.ts'
import { RESOURCE_BINDINGS } from '../../src/kinds/karmada/resources.ts'
import { CONFIG_MAPS, PODS } from '../../src/kinds/kubernetes/resources.ts'
import { createPodVolumes } from '../../src/minicluster/kubelet/volumes/index.ts'
import { MODULES } from '../../src/modules.ts'
import { propagatableBy } from '../../src/runtime/module/run-modules.ts'
import { HELD_BECAUSE } from '../../src/runtime/seams/narrowing.ts'
import { webhookConfigurations, webhookPath } from '../../src/runtime/webhook/configuration.ts'
import { webhookHandle } from '../../src/runtime/webhook/handle.ts'
import { noteController } from './controller.ts'
import { toy } from './module.ts'
import { Note } from './note.ts'

const modules = [...MODULES, toy]
const aNote = (name: string, text: string) => ({
  apiVersion: 'toy.example.dev/v1',
  kind: 'Note',
  metadata: { namespace: 'default', name },
  spec: { text },
})

describe('a module that is one folder and one line', () => {
  it('has its kind served, its admission called and its controller run, on the hub and on members', async () => {
    const world = await aWorld({ modules: [...MODULES, toy.with({ suffix: '!' })], members: 1 }).settle()
    for (const cluster of [world.hub, world.member]) {
      await cluster.create(aNote('first', 'hello'))
      await world.settle()
      assert.deepEqual((await cluster.get(CONFIG_MAPS, 'default/first'))?.data, { text: 'hello!' })
      await assert.rejects(cluster.create(aNote('empty', '')), /spec\.text.*write something down/)
      await cluster.delete(Note.resource, 'default/first')
      await world.settle()
      assert.equal(await cluster.get(CONFIG_MAPS, 'default/first'), undefined, 'collected with its owner')
    }
    const answer = await world.inside(() => world.hub.client.raw({ method: 'GET', path: '/toy.example.dev/hello' }))
    assert.equal(answer.status, 200)
    await world.stop()
  })

  it('changes the pods of a member, and not those of the hub', async () => {
    const world = await aWorld({ modules, members: 1 }).settle()
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'default', name: 'p' },
      spec: { containers: [{ name: 'a', image: 'a' }] },
    }
    await world.member.create(pod)
    assert.equal((await world.member.get(PODS, 'default/p'))?.metadata.labels?.['toy.example.dev/seen'], 'true')
    await world.hub.create(pod)
    assert.equal((await world.hub.get(PODS, 'default/p'))?.metadata.labels?.['toy.example.dev/seen'], undefined)
    await world.stop()
  })

  it('has its admission served as webhooks: its own kind closed on failure, pods open', async () => {
    const admissions = ownAdmissionOf('member', modules)
    const ownOfOthers = data.admission('member').map(({ name }) => name)
    assert.deepEqual(
      admissions.map(({ name }) => name).filter((name) => !ownOfOthers.includes(name)),
      ['ToyLabel', 'NoteText', 'RunPlacement'],
      'the placement of pods sees what others inject',
    )
    const configurations = webhookConfigurations('sluice-member', admissions, {
      target: { url: 'https://127.0.0.1:1', authority: 'PEM' },
      ownGroups: [...new Set(ownKindsOf('member', modules).map(({ group }) => group))],
    })
    const policies = configurations.flatMap(({ webhooks }) =>
      (webhooks as { name: string; failurePolicy: string }[]).map(({ name, failurePolicy }) => [name.split('.')[0], failurePolicy]),
    )
    assert.ok(
      policies.some(([name, policy]) => name === 'note-text' && policy === 'Fail'),
      JSON.stringify(policies),
    )
    assert.ok(
      policies.some(([name, policy]) => name === 'toy-label' && policy === 'Ignore'),
      JSON.stringify(policies),
    )
    const handle = webhookHandle({
      admissions,
      kinds: [],
      read: { get: () => undefined, list: () => [] },
      ready: async () => undefined,
      nowMs: () => 0,
      newUid: () => 'uid',
      hasRight: () => assert.fail('nobody is asked for rights'),
      onError: (error) => assert.fail(String(error)),
    })
    const note = admissions.find(({ name }) => name === 'NoteText') ?? assert.fail('it is there')
    const review = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: 'u',
        kind: { group: Note.group, version: 'v1', kind: 'Note' },
        resource: { group: Note.group, version: 'v1', resource: 'notes' },
        operation: 'CREATE',
        namespace: 'default',
        name: 'empty',
        userInfo: { username: 'ann' },
        object: aNote('empty', ''),
      },
    }
    const { status, body } = await handle(webhookPath(note, 'validate'), Buffer.from(JSON.stringify(review)))
    assert.equal(status, 200)
    assert.match(JSON.stringify(body), /write something down/)
  })

  it('has its flag in --help, on both commands, and its value in its options', async () => {
    const program = buildProgram(fakeMachine(), modules)
    for (const name of ['up', 'controllers']) {
      const command = program.commands.find((one) => one.name() === name)
      assert.match(command?.helpInformation() ?? '', /--toy-suffix <text>\s+added to the text of every Note/)
    }
    assert.match(
      program.commands.find((one) => one.name() === 'up')?.helpInformation() ?? '',
      /tell a story after the start: fleet, gate, data, toy/,
    )
    const files = { resolve: (path: string) => path, read: async () => undefined, exists: async () => false }
    const read = (await toy.withFlags('up', { '--toy-suffix': ['?'] }, files)) as typeof toy
    assert.deepEqual(read.options, { suffix: '?' })
  })

  it('has its rows in the generated references, definitions and access rules', () => {
    const pages = new Map(referencePages(modules).map(({ path, content }) => [path, content]))
    assert.match(
      pages.get('docs/reference/controllers.md') ?? '',
      /## toy\n\nRuns on the hub and on members, unless .*`toy-system\/toy-controller`/,
    )
    assert.match(pages.get('docs/reference/controllers.md') ?? '', /`toy\.note` \| `notes\.toy\.example\.dev` \| `configmaps`/)
    assert.match(pages.get('docs/reference/admission.md') ?? '', /`NoteText` \| Refuses a Note without a text\..*hub, members/)
    assert.match(pages.get('docs/reference/cli.md') ?? '', /--toy-suffix/)
    assert.match(pages.get('docs/reference/kinds.md') ?? '', /## Note\n/)
    assert.match(pages.get('deploy/crds/toy.example.dev_notes.yaml') ?? '', /kind: CustomResourceDefinition/)
    for (const role of ['hub', 'member'])
      assert.match(pages.get(`deploy/rbac/${role}.yaml`) ?? '', new RegExp(`name: sluice-${role}-toy\\n[\\s\\S]*toy\\.example\\.dev`))
  })

  it('fills the seams: narrowing, volume driver, explainer, story', async () => {
    const driver = createPodVolumes(volumeDriversOf())
    const pod = (medium: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {},
      spec: { volumes: [{ name: 'v', emptyDir: { medium } }] },
    })
    const planned = (medium: string) => driver.plan({ pod: pod(medium) } as never)[0]?.plan.kind
    assert.deepEqual([planned('Toy'), planned('Memory')], ['path', 'memory'], 'asked first, and passed on')
    assert.deepEqual(
      toy.chapters.map(({ name }) => name),
      ['toy'],
    )
    assert.deepEqual(
      toy.explainers.map(({ name }) => name),
      ['toy'],
    )
  })

  it('holds a binding through the narrowing seam, and explains it', async () => {
    const world = await aWorld({ modules }).settle()
    const selector = { apiVersion: 'v1', kind: 'ConfigMap', name: 'held' }
    await world.hub.create({
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: { namespace: 'default', name: 'held' },
      spec: { resourceSelectors: [selector] },
    })
    const annotations = { 'toy.example.dev/hold': '' }
    await world.hub.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'held', annotations } })
    await world.settle()
    const binding = await world.hub.get(RESOURCE_BINDINGS, 'default/held-configmap')
    assert.equal(binding?.metadata.annotations?.[HELD_BECAUSE], 'the toy holds it')
    assert.equal((binding as ResourceBinding | undefined)?.spec.suspension?.scheduling, true)
    const why = await world.inside(() =>
      explainObject(world.hub.client, { kind: 'configmap', name: 'held', namespace: 'default' }, toy.explainers),
    )
    assert.ok(typeof why !== 'string')
    assert.deepEqual(
      why.explanation.links.map(({ what, state }) => `${what} ${state}`),
      ['template ok', 'policy ok', 'binding ok', 'toy waits', 'schedule waits'],
    )
    assert.deepEqual([why.explanation.says, why.explanation.fix], ['the toy holds it', 'remove the annotation toy.example.dev/hold'])
    await world.stop()
  })

  it('keeps its kinds on the hub', () => {
    assert.equal(propagatableBy(modules).isPropagatable(Note.resource), false)
    assert.equal(propagatableBy(MODULES).isPropagatable(Note.resource), true)
  })

  it('has its generator and invariants in the seeded worlds', async () => {
    const world = composedWorld(modules)
    assert.ok(world.generators.some(({ name }) => name === 'note'))
    assert.ok(world.invariants.some(({ says }) => says === 'the text of a Note is one of those that people wrote'))
    const drawn = world.generators.find(({ name }) => name === 'note')?.draw(seededRandom(3))
    assert.ok(drawn !== undefined)
    const { failure } = await proveSeed(world, 2, await beginningOf(world))
    assert.deepEqual(failure, undefined)
  })

  it('is this folder and nothing else', () => {
    assert.deepEqual(readdirSync('test/toy-module').sort(), ['controller.ts', 'module.ts', 'note.ts', 'seeded.ts', 'toy.test.ts'])
  })
})

/** As the runtime takes them from a running module. */
function volumeDriversOf() {
  const started = toy.start({} as never)
  return started.seams.volumeDrivers ?? []
}

survives(
  noteController(() => ''),
  {
    modules,
    steps: [
      (cluster) => cluster.create(aNote('one', 'hello')),
      (cluster) => cluster.patch(Note.resource, 'default/one', { spec: { text: 'bye' } }),
      (cluster) => cluster.delete(Note.resource, 'default/one'),
    ],
  },
)
