/** Effects that run commands in pods: declared, through the server, in worlds with scripted commands or a scripted machine. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { accessOf } from '../cli/reference/access-rules.ts'
import { execInPod } from '../client/exec-in-pod.ts'
import { runControllers } from '../composition.ts'
import { aProcessPod, processNodes } from '../faultsim/builders/process-nodes.ts'
import type { RunControllers } from '../faultsim/world/cluster.ts'
import { aWorld, type World } from '../faultsim/world/index.ts'
import { CONFIG_MAPS, PODS, SECRETS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import { type Access, type Controller, defineController, type Effect, EXEC_IN_PODS, NOTHING_TO_DO, request } from './controller.ts'
import { defineModule } from './module/module.ts'

const COMMAND_LINE = 'ask -v'

/** Writes down in a ConfigMap what a command in the pod of its name says. */
function scribe(access: readonly Access[]): { module: ReturnType<typeof defineModule>; controllers: Controller[] } {
  const controllers: Controller[] = []
  const module = defineModule({
    name: 'scribe',
    roles: ['member'],
    upstreamLeases: [],
    defaults: () => ({}),
    services: ({ clock }) => ({ clock }),
    controllers({ clock }) {
      const ask: Effect<string, string> = {
        name: 'scribe.note.ask',
        about: 'asks a pod',
        timeoutMs: 10_000,
        access,
        async run(pod, { client, signal }) {
          const bounds = { clock, timeoutMs: 5000, maxBytes: 1000, signal }
          const { stdout, stderr, exitCode } = await execInPod(
            client,
            { namespace: 'default', pod, command: COMMAND_LINE.split(' ') },
            bounds,
          )
          return `${exitCode} ${stdout}${stderr}`
        },
      }
      controllers.push(
        defineController<{ note: KubeObject; said: string | undefined } | undefined>({
          name: 'scribe.note',
          for: CONFIG_MAPS,
          isRelevant: ({ metadata }) => metadata.labels?.scribe === 'yes',
          writes: [{ resource: CONFIG_MAPS, verbs: ['patch'] }],
          effects: [ask as Effect],
          observe(_key, note, read) {
            if (note?.metadata.labels?.scribe !== 'yes') return undefined
            const outcome = read.outcome(ask, 'once')
            return { note, said: outcome?.state === 'done' ? outcome.value : undefined }
          },
          plan(observed) {
            if (observed === undefined || (observed.note.data as { said?: string } | undefined)?.said !== undefined) return NOTHING_TO_DO
            const { note, said } = observed
            if (said === undefined) return { actions: [], effects: [request(ask, 'once', note.metadata.name ?? '')] }
            return { actions: [{ do: 'patch', resource: CONFIG_MAPS, of: note, patch: { data: { said } } }] }
          },
        }),
      )
      return [...controllers]
    },
  })
  return { module, controllers }
}

const NOTE: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'p', namespace: 'default', labels: { scribe: 'yes' } },
}
const saidIn = async (world: World): Promise<string | undefined> =>
  ((await world.member.get(CONFIG_MAPS, 'default/p')) as { data?: { said?: string } } | undefined)?.data?.said

const withScribe = (access: readonly Access[], run: RunControllers): RunControllers => {
  return (options, cluster) => run({ ...options, modules: [...options.modules, scribe(access).module] }, cluster)
}

describe('an effect with a client', () => {
  it('runs commands in the pods of a world, as its script says', async () => {
    const controllers = withScribe([EXEC_IN_PODS], (options) => runControllers(options))
    const world = await aWorld({ hub: false, members: 1, nodes: 1, controllers }).settle()
    world.member.commands.script(({ command }) => ({ stdout: `heard ${command.join(' ')}`, stderr: '!', exitCode: 3 }))
    await world.member.create(aProcessPod('default/p', 'anything', { nodeName: undefined }))
    await world.settle()
    await world.member.create(NOTE)
    await world.settle()
    assert.equal(await saidIn(world), '3 heard ask -v!')
    await world.stop()
  })

  it('runs them on a scripted machine', async () => {
    const programs = { serve: { exec: { ask: (command: readonly string[]) => ({ output: command.slice(1).join(), errors: '?' }) } } }
    const controllers = withScribe([EXEC_IN_PODS], processNodes(programs))
    const world = await aWorld({ hub: false, members: 1, controllers }).settle()
    await world.member.create(aProcessPod('default/p', 'serve'))
    await world.settle()
    await world.member.create(NOTE)
    await world.settle()
    assert.equal(await saidIn(world), '0 -v?')
    await world.stop()
  })

  it('may do only what it declares', async () => {
    const controllers = withScribe([{ resource: PODS, verbs: ['get'] }], (options) => runControllers(options))
    const world = await aWorld({ hub: false, members: 1, controllers }).settle()
    await world.member.create(NOTE)
    await world.advance(1000)
    assert.equal(await saidIn(world), undefined)
    assert.ok(world.member.complaints.some((text) => text.includes('scribe.note.ask may not create pods/exec: add it to its `access`')))
    await world.stop()
  })

  it('brings its rights into the access rules', () => {
    const { module } = scribe([EXEC_IN_PODS, { resource: SECRETS, verbs: ['get'] }])
    const [controller] = module.declaredControllers()
    assert.ok(controller !== undefined)
    assert.deepEqual(accessOf(controller), [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'patch'] },
      { apiGroups: [''], resources: ['pods/exec'], verbs: ['get', 'create'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
    ])
  })
})
