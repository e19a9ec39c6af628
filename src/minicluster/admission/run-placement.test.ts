import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { AdmissionContext } from '../../kinds/admission.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { decide, runPlacement } from './run-placement.ts'

const options = {
  hasProcessNodes: true,
  isMapped: (image: string) => image === 'mine',
  entryPoints: new Map([['sluice.dev/sluice', { name: 'sluice', program: ['node', 'sluice.mjs'] }]]),
  resolves: (command: string) => command === 'sh',
}
const pod = (spec: unknown, metadata: KubeObject['metadata'] = {}): Pod =>
  ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, spec }) as Pod
const nginx = { name: 'web', image: 'nginx' }
const shell = { name: 'job', image: 'busybox', command: ['sh', '-c', 'true'] }

function admitted(object: Pod, namespace?: KubeObject): Pod {
  const context = { read: { get: () => namespace, list: () => [] } } as unknown as AdmissionContext
  runPlacement(options).mutate?.(object, 'default', context)
  return object
}

describe('where a pod runs', () => {
  const cases: [string, Pod, 'simulated' | 'process', RegExp][] = [
    ['nginx as people write it', pod({ containers: [nginx] }), 'simulated', /names no command.*--image nginx=DIRECTORY/],
    ['a command that is here', pod({ containers: [shell] }), 'process', /^$/],
    ['a mapped image', pod({ containers: [{ name: 'a', image: 'mine' }] }), 'process', /^$/],
    ['our own image', pod({ containers: [{ name: 'a', image: 'sluice.dev/sluice:1', args: ['cache'] }] }), 'process', /^$/],
    ['our own command in it', pod({ containers: [{ name: 'a', image: 'sluice.dev/sluice', command: ['sluice'] }] }), 'process', /^$/],
    ['a command of this machine in it', pod({ containers: [{ ...shell, image: 'sluice.dev/sluice' }] }), 'process', /^$/],
    [
      'a command that is not here, in our own image',
      pod({ containers: [{ name: 'a', image: 'sluice.dev/sluice', command: ['trainer'] }] }),
      'simulated',
      /"trainer".*is not on this machine/,
    ],
    ['our command in an image of others', pod({ containers: [{ ...nginx, command: ['sluice'] }] }), 'simulated', /"sluice".*is not/],
    ['one container that cannot', pod({ containers: [shell, nginx] }), 'simulated', /container web/],
    ['an init container that cannot', pod({ initContainers: [nginx], containers: [shell] }), 'simulated', /container web/],
    [
      'a command that is not here',
      pod({ containers: [{ ...shell, command: ['trainer'] }] }),
      'simulated',
      /"trainer".*is not on this machine/,
    ],
    ['a wish on the pod', pod({ containers: [shell] }, { annotations: { 'sluice.dev/run': 'simulated' } }), 'simulated', /asks for it/],
    ['a wish against all odds', pod({ containers: [nginx] }, { labels: { 'sluice.dev/run': 'process' } }), 'process', /^$/],
  ]
  for (const [name, of, mode, because] of cases)
    it(`${name}: ${mode}`, () => {
      const decision = decide(of, undefined, options)
      assert.equal(decision?.mode, mode)
      assert.match(decision?.because ?? '', because)
    })

  it('is what the namespace says when the pod says nothing', () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { annotations: { 'sluice.dev/run': 'simulated' } } }
    assert.equal(decide(pod({ containers: [shell] }), namespace, options)?.mode, 'simulated')
  })
  it('is on the pod in the words of Kubernetes: a toleration, a selector, and why', () => {
    const played = admitted(pod({ containers: [nginx] }))
    assert.deepEqual(played.spec?.tolerations, [{ key: 'sluice.dev/simulated', operator: 'Exists', effect: 'NoSchedule' }])
    assert.deepEqual(played.spec?.nodeSelector, { 'sluice.dev/node': 'simulated' })
    assert.match(played.metadata.annotations?.['sluice.dev/simulated-because'] ?? '', /names no command/)
    const real = admitted(pod({ containers: [shell] }))
    assert.equal(real.spec?.tolerations, undefined)
    assert.equal(real.spec?.nodeSelector, undefined)
  })
  it('does not stray where everything is tolerated', () => {
    const real = admitted(pod({ containers: [shell], tolerations: [{ operator: 'Exists' }] }))
    assert.deepEqual(real.spec?.nodeSelector, { 'sluice.dev/node': 'process' })
  })
  it('refuses a mode that is neither', () => {
    const undecided = pod({}, { annotations: { 'sluice.dev/run': 'maybe' } })
    const errors = runPlacement(options).validate?.(undecided, 'default', {} as AdmissionContext)
    assert.match(JSON.stringify(errors), /must be simulated or process/)
  })
  it('is decided for any shape of pod', () => {
    const container = fc.record({ name: fc.string(), image: fc.string(), command: fc.array(fc.string()) }, { requiredKeys: [] })
    const spec = fc.option(fc.record({ containers: fc.array(container), initContainers: fc.array(container) }, { requiredKeys: [] }), {
      nil: undefined,
    })
    fc.assert(
      fc.property(spec, (of) => {
        assert.ok(['simulated', 'process'].includes(decide(pod(of), undefined, options)?.mode ?? ''))
      }),
    )
  })
})
