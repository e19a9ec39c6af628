/** Whatever programs do and whenever the kubelet dies: no run happens twice, no restart is forgotten, no end is revoked. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { aProcessPod, machineOf, processNodes } from '../../faultsim/builders/process-nodes.ts'
import { aWorld, type World } from '../../faultsim/world/index.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { Program } from './fake-machine.ts'

const program: fc.Arbitrary<Program> = fc.record(
  {
    runMs: fc.integer({ min: 0, max: 30_000 }),
    exitCode: fc.constantFrom(0, 0, 1, 42),
    ignoresStop: fc.boolean(),
    startMs: fc.constantFrom(0, 5, 2000),
    stopMs: fc.constantFrom(0, 10, 9000),
    failsToStart: fc.constant({ phase: 'failed' as const, reason: 'StartError' as const, message: 'no' }),
  },
  { requiredKeys: [] },
)
const programs = fc.record({
  main: fc.array(program, { minLength: 1, maxLength: 3 }),
  other: fc.array(program, { minLength: 1, maxLength: 3 }),
  init: fc.array(fc.record({ runMs: fc.constant(500), exitCode: fc.constantFrom(0, 0, 0, 1) }), { minLength: 2, maxLength: 2 }),
})

const step = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 40_000 }).map((ms) => ({ do: 'wait' as const, ms })) },
  { weight: 3, arbitrary: fc.constant({ do: 'crash' as const, back: 0 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 8 }).map((back) => ({ do: 'crash' as const, back })) },
  { weight: 1, arbitrary: fc.constant({ do: 'delete' as const }) },
)

const course = fc.record({
  programs,
  restartPolicy: fc.constantFrom('Always', 'OnFailure', 'Never'),
  hasInit: fc.boolean(),
  hasSidecar: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 8 }),
})

/** Watches every stored version of the pods, and remembers the first violation. */
function watchPods(world: World): { wrong?: string } {
  const seen: { wrong?: string } = {}
  const before = new Map<string, Pod>()
  world.member.store.watch('pods/', {
    after: world.member.store.revision,
    onEvent({ type, version }) {
      const pod = version.object() as Pod
      const uid = pod.metadata.uid ?? ''
      const old = before.get(uid)
      if (type !== 'delete') before.set(uid, pod)
      const phase = old?.status?.phase
      if ((phase === 'Succeeded' || phase === 'Failed') && pod.status?.phase !== phase)
        seen.wrong ??= `${phase} became ${pod.status?.phase}`
      for (const status of [...(old?.status?.initContainerStatuses ?? []), ...(old?.status?.containerStatuses ?? [])]) {
        const next = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].find(
          ({ name }) => name === status.name,
        )
        if ((next?.restartCount ?? 0) < (status.restartCount ?? 0)) seen.wrong ??= `restartCount of ${status.name} went down`
      }
      if (old?.status?.podIP !== undefined && pod.status?.podIP !== old.status.podIP) seen.wrong ??= 'the address changed'
    },
  })
  return seen
}

async function play({
  programs: given,
  restartPolicy,
  hasInit,
  hasSidecar,
  steps,
}: typeof course extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  const world = await aWorld({ members: 1, hub: false, controllers: processNodes(given) }).settle()
  const seen = watchPods(world)
  const of = (name: string, more = {}) => ({ name, image: 'img', command: [name], ...more })
  const initContainers = [
    ...(hasInit ? [of('init')] : []),
    ...(hasSidecar ? [of('side', { command: ['other'], restartPolicy: 'Always' })] : []),
  ]
  const containers = [of('main'), of('other')]
  const spec = { restartPolicy, initContainers, containers, terminationGracePeriodSeconds: 5, automountServiceAccountToken: false }
  await world.member.create(aProcessPod('default/p', '', spec))
  let isDeleted = false
  for (const one of steps) {
    if (one.do === 'wait') await world.advance(one.ms)
    else if (one.do === 'crash') {
      await world.inside(() =>
        world.member.crashControllers(one.back === 0 ? undefined : Math.max(1, world.member.store.revision - one.back)),
      )
      await world.advance(500)
      world.member.releaseCaches()
    } else if (!isDeleted) {
      isDeleted = true
      await world.member.delete(PODS, 'default/p')
    }
  }
  await world.advance(60_000)
  const machine = machineOf(world.member)
  const twice = [...machine.begun].filter(([, times]) => times > 1)
  assert.deepEqual(twice, [], 'runs that were begun twice')
  assert.equal(seen.wrong, undefined)
  const pod = await world.member.get(PODS, 'default/p')
  if (isDeleted) assert.deepEqual([pod, machine.pods()], [undefined, []], 'a deleted pod is gone, and so is everything of it')
  await world.stop()
}

describe('pods on process nodes', () => {
  it('never run twice, never count backwards, never come back from their end', async () => {
    await fc.assert(fc.asyncProperty(course, play), { numRuns: 12 })
  })
})
