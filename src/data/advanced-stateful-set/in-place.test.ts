import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Pod, PodTemplateSpec } from '../../kinds/kubernetes/types.ts'
import { changeBetween, inPlacePatch, isUpdating } from './in-place.ts'

const template = (image: string, more: Partial<NonNullable<PodTemplateSpec['spec']>> = {}, labels = {}): PodTemplateSpec => ({
  metadata: { labels: { app: 'web', ...labels }, annotations: { note: image } },
  spec: {
    containers: [
      { name: 'main', image },
      { name: 'log', image: 'log' },
    ],
    ...more,
  },
})
const zone = { env: [{ name: 'ZONE', valueFrom: { fieldRef: { fieldPath: "metadata.labels['zone']" } } }] }
const reading: PodTemplateSpec['spec'] = { containers: [{ name: 'main', image: 'one', ...zone }] }

const podAt = (image: string, containerID: string, annotations: Record<string, string> = {}): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-0', annotations } },
  spec: {
    containers: [
      { name: 'main', image },
      { name: 'injected', image: 'proxy' },
    ],
  },
  status: { containerStatuses: [{ name: 'main', image: 'docker.io/one', imageID: 'sha256:1', containerID }] },
})

describe('a change of the template', () => {
  const impossible: [says: string, from: PodTemplateSpec | undefined, to: PodTemplateSpec, why: RegExp][] = [
    ['whose old form is not known', undefined, template('two'), /no longer exists/],
    ['of a container', template('one'), template('two', { containers: [{ name: 'main', image: 'two', args: ['x'] }] }), /more than images/],
    ['of an init container', template('one'), template('one', { initContainers: [{ name: 'i', image: 'i' }] }), /more than images/],
    ['of finalizers', template('one'), { ...template('one'), metadata: { finalizers: ['a/b'] } }, /more than images/],
    [
      'of containers that end for good',
      template('one', { restartPolicy: 'Never' }),
      template('two', { restartPolicy: 'Never' }),
      /restart/,
    ],
    [
      'of a label in an environment',
      template('', reading, { zone: 'a' }),
      template('', reading, { zone: 'b' }),
      /metadata.labels\['zone'\]/,
    ],
  ]
  for (const [says, from, to, why] of impossible)
    it(`${says} is impossible in place`, () => {
      const change = changeBetween(from, to)
      assert.match(change.isPossible ? '' : change.why, why)
    })

  it('of images, labels and annotations becomes a patch that keeps what others added', () => {
    const from = template('one', {}, { gone: 'x', same: 'y' })
    const to = { name: 'web-2', template: template('two', {}, { same: 'y', more: 'z' }) }
    const change = changeBetween(from, to.template)
    assert.ok(change.isPossible)
    const state = { revision: 'web-2', lastContainerStatuses: { main: { imageID: 'sha256:1', containerID: 'a' } } }
    assert.deepEqual(inPlacePatch(podAt('one', 'a'), change, to), {
      metadata: {
        labels: { more: 'z', gone: null, 'controller-revision-hash': 'web-2' },
        annotations: { note: 'two', 'workload.fluid.io/inplace-update-state': JSON.stringify(state) },
      },
      spec: {
        containers: [
          { name: 'main', image: 'two' },
          { name: 'injected', image: 'proxy' },
        ],
      },
    })
  })

  it('of labels alone restarts nothing', () => {
    const change = changeBetween(template('one'), template('one', {}, { more: 'z' }))
    assert.ok(change.isPossible)
    const patch = inPlacePatch(podAt('one', 'a'), change, { name: 'web-2', template: template('one', {}, { more: 'z' }) })
    assert.deepEqual(patch, { metadata: { labels: { more: 'z', 'controller-revision-hash': 'web-2' }, annotations: {} } })
  })
})

describe('a template that no server has checked', () => {
  const odd = fc.oneof(
    fc.constant(null),
    fc.string(),
    fc.nat(),
    fc.array(fc.oneof(fc.constant(null), fc.string(), fc.dictionary(fc.constantFrom('name', 'image', 'env'), fc.jsonValue()))),
  )
  const some = fc.record({
    metadata: fc.oneof(odd, fc.record({ labels: odd, annotations: odd })),
    spec: fc.oneof(odd, fc.record({ containers: odd, initContainers: odd })),
  })
  it('changes in place or says why not, but breaks nothing', () => {
    fc.assert(
      fc.property(some, some, (from, to) => {
        const change = changeBetween(from as PodTemplateSpec, to as PodTemplateSpec)
        if (!change.isPossible) return assert.notEqual(change.why, '')
        assert.ok('metadata' in inPlacePatch(podAt('one', 'a'), change, { name: 'web-2', template: to as PodTemplateSpec }))
      }),
    )
  })
})

describe('a pod that was changed in place', () => {
  const note = (text: string): Record<string, string> => ({ 'workload.fluid.io/inplace-update-state': text })
  const before = (statuses: unknown): Record<string, string> => note(JSON.stringify({ lastContainerStatuses: statuses }))
  const cases: [says: string, pod: Pod, expected: boolean][] = [
    ['is being updated while the container is the old one', podAt('two', 'a', before({ main: { containerID: 'a' } })), true],
    ['is done when another container runs', podAt('two', 'b', before({ main: { containerID: 'a' } })), false],
    ['is done when the image runs that it should', podAt('docker.io/one', 'a', before({ main: { containerID: 'a' } })), false],
    ['cannot be waited for when nobody said what ran', podAt('two', 'a', before({ main: {} })), false],
    ['was not changed without a note', podAt('two', 'a'), false],
    ['is judged without what is no note', podAt('two', 'a', note('{"lastContainerStatuses":')), false],
    ['is judged without a note of another form', podAt('two', 'a', before([['main']])), false],
  ]
  for (const [says, pod, expected] of cases) it(says, () => assert.equal(isUpdating(pod), expected))
})
