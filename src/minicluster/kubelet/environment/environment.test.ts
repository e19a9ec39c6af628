import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ConfigMap, Container, Node, Pod, Secret } from '../../../kinds/kubernetes/types.ts'
import { fieldValue, resourceValue } from './downward.ts'
import { environmentOf, environmentSources } from './environment.ts'
import { expand } from './expand.ts'

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'u1', labels: { b: 'two "2"', a: 'one' }, annotations: { 'x/y': 'z' } },
  spec: {
    nodeName: 'n1',
    serviceAccountName: 'clerk',
    containers: [{ name: 'main', resources: { limits: { cpu: '1500m', memory: '64Mi' }, requests: { cpu: '250m' } } }],
  },
  status: { podIP: '127.64.0.2', hostIP: '127.0.0.1' },
}
const node = { status: { allocatable: { cpu: '4', memory: '8Gi' } } } as unknown as Node
const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('expand', () => {
  const lookup = (name: string): string | undefined => ({ A: 'a', EMPTY: '' })[name]
  const cases: [string, string][] = [
    ['$(A)', 'a'],
    ['x$(A)y$(A)', 'xaya'],
    ['$(EMPTY)', ''],
    ['$(B)', '$(B)'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$a'],
    ['$$$$', '$$'],
    ['$', '$'],
    ['$A', '$A'],
    ['$(A', '$(A'],
    ['$()', '$()'],
    ['50$', '50$'],
    ['$($(A))', '$($(A))'],
  ]
  for (const [text, expected] of cases) it(`makes ${expected} of ${text}`, () => assert.equal(expand(text, lookup), expected))
})

describe('fields of a pod', () => {
  const cases: [string, string | RegExp][] = [
    ['metadata.name', 'web'],
    ['metadata.namespace', 'shop'],
    ['metadata.uid', 'u1'],
    ['metadata.labels', 'a="one"\nb="two \\"2\\""'],
    ["metadata.labels['a']", 'one'],
    ["metadata.annotations['x/y']", 'z'],
    ["metadata.annotations['nobody']", ''],
    ["metadata.labels['constructor']", ''],
    ['spec.nodeName', 'n1'],
    ['spec.serviceAccountName', 'clerk'],
    ['status.podIP', '127.64.0.2'],
    ['status.podIPs', '127.64.0.2'],
    ['status.hostIP', '127.0.0.1'],
    ['status.hostIPs', '127.0.0.1'],
    ['status.phase', /unsupported fieldPath: status.phase/],
    ["spec.containers['x']", /does not support subscript/],
    ['constructor', /unsupported/],
  ]
  for (const [path, expected] of cases)
    it(path, () => {
      const found = fieldValue(pod, path)
      if (typeof expected === 'string') assert.deepEqual(found, { value: expected })
      else assert.match('problem' in found ? found.problem : '', expected)
    })
})

describe('resources of a container', () => {
  const cases: [string, string | undefined, string | RegExp][] = [
    ['limits.cpu', undefined, '2'],
    ['limits.cpu', '1m', '1500'],
    ['limits.memory', '1Mi', '64'],
    ['limits.memory', '0', '67108864'],
    ['requests.cpu', '1m', '250'],
    ['requests.memory', undefined, '0'],
    ['limits.ephemeral-storage', undefined, '0'],
    ['limits.hugepages-2Mi', undefined, '0'],
    ['limits.gpu', undefined, /unsupported container resource : limits.gpu/],
  ]
  for (const [resource, divisor, expected] of cases)
    it(`${resource} by ${divisor ?? 'nothing'}`, () => {
      const found = resourceValue(pod, { containerName: 'main', resource, divisor }, { node })
      if (typeof expected === 'string') assert.deepEqual(found, { value: expected })
      else assert.match('problem' in found ? found.problem : '', expected)
    })

  it('are those of the node where no limit is set', () => {
    assert.deepEqual(resourceValue(pod, { resource: 'limits.memory', divisor: '1Gi' }, { node, container: { name: 'other' } }), {
      value: '8',
    })
    assert.deepEqual(resourceValue(pod, { containerName: 'nobody', resource: 'limits.cpu' }, { node }), {
      problem: 'container nobody not found',
    })
  })
})

describe('the environment of a container', () => {
  const configMaps: Record<string, ConfigMap> = {
    settings: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { key: 'value', other: 'more' } },
  }
  const secrets: Record<string, Secret> = {
    keys: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, data: { pin: base64('1234') } },
  }
  const context = {
    pod,
    node,
    configMap: (name: string) => (Object.hasOwn(configMaps, name) ? configMaps[name] : undefined),
    secret: (name: string) => (Object.hasOwn(secrets, name) ? secrets[name] : undefined),
    base: { PATH: '/bin', HOME: '/' },
  }
  const of = (container: Container): Record<string, string> | string => {
    const found = environmentOf(container, context)
    return 'problem' in found ? found.problem : found.env
  }
  const variable = (valueFrom: object): Container => ({ env: [{ name: 'V', valueFrom }] })

  it('has what every container has, under what it declares', () => {
    assert.deepEqual(
      of({
        env: [
          { name: 'HOME', value: '/home' },
          { name: 'P', value: '$(PATH):$(HOME)' },
        ],
      }),
      {
        PATH: '/bin',
        HOME: '/home',
        P: '/bin:/home',
      },
    )
  })

  it('takes whole ConfigMaps and Secrets with a prefix, and lets single variables win', () => {
    const envFrom = [{ configMapRef: { name: 'settings' } }, { prefix: 'S_', secretRef: { name: 'keys' } }]
    assert.deepEqual(of({ envFrom, env: [{ name: 'key', value: '$(S_pin)!' }] }), {
      PATH: '/bin',
      HOME: '/',
      key: '1234!',
      other: 'more',
      S_pin: '1234',
    })
  })

  const problems: [string, Container, string][] = [
    ['a missing ConfigMap', { envFrom: [{ configMapRef: { name: 'x' } }] }, 'configmap "x" not found'],
    ['a missing Secret', { envFrom: [{ secretRef: { name: 'x' } }] }, 'secret "x" not found'],
    ['a missing ConfigMap of a key', variable({ configMapKeyRef: { name: 'x', key: 'k' } }), 'configmap "x" not found'],
    ['a missing key', variable({ configMapKeyRef: { name: 'settings', key: 'k' } }), "couldn't find key k in ConfigMap shop/settings"],
    [
      'a key of every object',
      variable({ configMapKeyRef: { name: 'settings', key: 'constructor' } }),
      "couldn't find key constructor in ConfigMap shop/settings",
    ],
    ['a missing secret key', variable({ secretKeyRef: { name: 'keys', key: 'k' } }), "couldn't find key k in Secret shop/keys"],
    ['a file', variable({ fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } }), 'fileKeyRef is not supported on process nodes'],
    ['an unknown field', variable({ fieldRef: { fieldPath: 'spec.nothing' } }), 'unsupported fieldPath: spec.nothing'],
    ['a NUL', { env: [{ name: 'V', value: 'a\0b' }] }, 'variable "V" contains a NUL byte'],
  ]
  for (const [name, container, message] of problems) it(`stops at ${name}`, () => assert.equal(of(container), message))

  it('leaves out what is optional and missing', () => {
    const container: Container = {
      envFrom: [{ configMapRef: { name: 'x', optional: true } }, { secretRef: { name: 'x', optional: true } }],
      env: [
        { name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'k', optional: true } } },
        { name: 'B', valueFrom: { secretKeyRef: { name: 'x', key: 'k', optional: true } } },
      ],
    }
    assert.deepEqual(of(container), context.base)
  })

  it('names the objects it comes from', () => {
    const container = {
      envFrom: [{ secretRef: { name: 's' } }],
      env: [{ name: 'V', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } }],
    }
    assert.deepEqual(environmentSources({ ...pod, spec: { containers: [container] } }), [
      { kind: 'Secret', name: 's' },
      { kind: 'ConfigMap', name: 'c' },
    ])
  })
})
