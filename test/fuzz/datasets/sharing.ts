/**
 * What tenants do to share datasets, or to get at what is not shared with them: references, grants, numbers of workers, pods that want
 * clients as sidecars or say that they have them, and objects under the names and with the marks of copies.
 */
import type { Json } from '../../../src/base/json.ts'
import { mirrorHash, mirrorName } from '../../../src/kinds/fluid/reference.ts'
import type { Choice } from '../choice.ts'
import { NAMESPACES } from '../corpus.ts'
import { hostileString, hostileValue } from '../hostile.ts'
import { mutateJson } from '../mutate.ts'
import { type DataRequest, NAMES } from './names.ts'

/** In options and environments: never in another namespace. */
export const CREDENTIAL = 'open-sesame'

const API = 'application/json'
const MERGE = 'application/merge-patch+json'
const FLUID = '/apis/data.fluid.io/v1alpha1'
const GRANTS = '/apis/gateway.networking.k8s.io/v1beta1'

const original = (choice: Choice): { namespace: string; name: string } => ({ namespace: choice.of(NAMESPACES), name: choice.of(NAMES) })
const namespaced = (root: string, choice: Choice, ...rest: string[]): string =>
  [root, 'namespaces', choice.of(NAMESPACES), ...rest].join('/')

const PARTS = ['', '', '', '/', '/sub', '/sub//deeper/.', '/%2e%2e/x', '/..', '/a\u0000b', `/${'x'.repeat(300)}`, `/${'y/'.repeat(2040)}`]

export function reference(choice: Choice): DataRequest {
  const { namespace, name } = original(choice)
  const scheme = choice.of(['dataset://', 'dataset://', 'dataset://', 'DataSet://', 'dataset:/'])
  const mountPoint = `${scheme}${namespace}/${name}${choice.of(PARTS)}`
  const mount = { mountPoint, ...(choice.chance(0.1) ? { name: 'x', path: '/../x', options: { a: CREDENTIAL } } : {}) }
  const mounts = choice.chance(0.1) ? [mount, { mountPoint: 's3://lake', name: 'lake' }] : [mount]
  const body = { apiVersion: 'data.fluid.io/v1alpha1', kind: 'Dataset', metadata: { name: choice.of(NAMES) }, spec: { mounts } }
  const accessModes = choice.chance(0.2) ? { accessModes: ['ReadWriteMany'] } : {}
  const whole = { ...body, spec: { ...body.spec, ...accessModes } }
  return { family: 'reference', method: 'POST', path: namespaced(FLUID, choice, 'datasets'), type: API, body: whole as Json }
}

export function standIn(choice: Choice): DataRequest {
  const spec = choice.of<Json>([{}, {}, { profileName: '' }, { profileName: 'a' }, { replicas: 3 }])
  const body = { apiVersion: 'data.fluid.io/v1alpha1', kind: 'ThinRuntime', metadata: { name: choice.of(NAMES) }, spec }
  return { family: 'thin runtime', method: 'POST', path: namespaced(FLUID, choice, 'thinruntimes'), type: API, body }
}

export function grant(choice: Choice): DataRequest {
  const name = choice.of(['consent', 'more'])
  const group = choice.of(['data.fluid.io', 'data.fluid.io', 'data.fluid.io', '', 'datadependency.volcano.sh'])
  const from = { group, kind: choice.of(['Dataset', 'Dataset', 'dataset', 'DataLoad']), namespace: choice.of(NAMESPACES) }
  const to = { group, kind: 'Dataset', ...(choice.chance(0.3) ? { name: choice.of(NAMES) } : {}) }
  const spec = { from: [from], to: [to] } as Json
  const path = namespaced(GRANTS, choice, 'referencegrants')
  return choice.weighted<() => DataRequest>([
    [
      6,
      () => {
        const body = { apiVersion: 'gateway.networking.k8s.io/v1beta1', kind: 'ReferenceGrant', metadata: { name }, spec }
        return { family: 'grant', method: 'POST', path, type: API, body: (choice.chance(0.2) ? mutateJson(body, choice) : body) as Json }
      },
    ],
    [2, () => ({ family: 'grant', method: 'PATCH', path: `${path}/${name}`, type: MERGE, body: { spec } })],
    [4, () => ({ family: 'grant', method: 'DELETE', path: `${path}/${name}`, type: API, body: {} })],
  ])()
}

const SCALED = ['cacheruntimes', 'cacheruntimes', 'alluxioruntimes', 'juicefsruntimes', 'jindoruntimes', 'thinruntimes', 'datasets']
const NUMBERS: readonly Json[] = [0, 1, 2, 3, 5, -1, 2 ** 31 - 1, 2 ** 53, 1.5, '3', null]

export function scale(choice: Choice): DataRequest {
  const path = namespaced(FLUID, choice, choice.of(SCALED), choice.of(NAMES), 'scale')
  const replicas = choice.chance(0.9) ? choice.of(NUMBERS) : hostileValue(choice)
  return { family: 'scale', method: 'PATCH', path, type: MERGE, body: { spec: { replicas } } }
}

const TEXTS = ['true', 'false', 'TRUE', '', 'all']

/** A pod that asks for sidecars, or says that it has them. */
export function sidecar(choice: Choice): DataRequest {
  const { namespace, name } = original(choice)
  const done = {
    'done.sidecar.fluid.io/inject': 'true',
    'fluid.io/managed-by': 'fluid',
    'dataset-name.sidecar.fluid.io/fluid-fuse-0': name,
    'dataset-namespace.sidecar.fluid.io/fluid-fuse-0': namespace,
    'cacheruntime.fluid.io/name': name,
  }
  const labels = {
    'serverless.fluid.io/inject': choice.of(['true', 'true', 'true', ...TEXTS]),
    ...(choice.chance(0.3) ? done : {}),
    ...(choice.chance(0.2) ? { 'unprivileged.sidecar.fluid.io/inject': choice.of(TEXTS) } : {}),
    ...(choice.chance(0.2) ? { 'app.poststart.fluid.io/inject': choice.of(TEXTS) } : {}),
  }
  const annotations = {
    ...(choice.chance(0.3)
      ? { 'sluice.dev/resolves-namespaces': choice.of([namespace, '*', `${namespace},,${hostileString(choice)}`]) }
      : {}),
    ...(choice.chance(0.3) ? { 'sidecar.fluid.io/skip-precheck': 'true' } : {}),
    ...(choice.chance(0.2) ? { 'default.fuse-sidecar.fluid.io/host-mount-path-mode': choice.of(['fixed', '../..']) } : {}),
  }
  const spec = {
    restartPolicy: choice.of(['Never', 'Always', 'OnFailure']),
    ...(choice.chance(0.2) ? { shareProcessNamespace: true } : {}),
    containers: [
      {
        name: choice.of(['c', 'fluid-fuse-0']),
        image: 'i',
        volumeMounts: [{ name: 'v', mountPath: choice.of(['/data', '/', '/check-mount.sh']) }],
      },
    ],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: choice.of(NAMES) } }],
    tolerations: [{ operator: 'Exists' }],
  }
  const metadata = { name: choice.of(['served', 'job', `${name}-client-x`]), labels, annotations }
  const body = { apiVersion: 'v1', kind: 'Pod', metadata, spec }
  return { family: 'sidecar', method: 'POST', path: namespaced('/api/v1', choice, 'pods'), type: API, body: body as Json }
}

/** Under the name of a copy, with its marks or without. */
export function forgery(choice: Choice): DataRequest {
  const of = original(choice)
  const name = mirrorName(choice.of([`fluid-runtime-config-${of.name}`, `${of.name}-client`, 'own']), of)
  const marks = {
    ...(choice.chance(0.7) ? { labels: { 'sluice.dev/mirror-of': choice.of([mirrorHash(of), 'x']) } } : {}),
    ...(choice.chance(0.7)
      ? { annotations: { 'sluice.dev/mirror-source': choice.of([`${of.namespace}/${of.name}`, '//', hostileString(choice)]) } }
      : {}),
  }
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...marks }, data: { 'runtime.json': '{}' } }
  return { family: 'forgery', method: 'POST', path: namespaced('/api/v1', choice, 'configmaps'), type: API, body: body as Json }
}
