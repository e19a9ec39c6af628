/** The resize subresource: cpu and memory of containers and of the pod, without changing its quality of service. */

import { deepClone } from '../../../../base/json.ts'
import { type FieldError, forbidden, invalid } from '../../../../kube/field-error.ts'
import { entries, type Fields, isSet, maybeObject, objects, raw, string } from '../fields.ts'
import { isMirrorPod } from './annotations.ts'
import { isSidecar } from './containers.ts'
import { podErrors } from './create.ts'
import { appendAll } from './errors.ts'
import type { PodOptions, SpecAndMeta } from './options.ts'
import { podQosClass } from './qos.ts'
import { runsOnWindows } from './security-context.ts'
import { semanticEqual } from './semantic.ts'

const ONLY_COMPUTE = 'only cpu and memory resources are mutable'
const LISTS = ['containers', 'initContainers']

interface Pod extends SpecAndMeta {
  status: Fields
}

export function resizeErrors(pod: Pod, old: Pod, options: PodOptions): FieldError[] {
  if (isMirrorPod(old.metadata)) return [forbidden('[]', 'static pods cannot be resized')]
  if (runsOnWindows(old.spec)) return [forbidden('[]', 'windows pods cannot be resized')]
  const errors = podErrors(pod, options)
  const oldClass = string(old.status, 'qosClass') || podQosClass(old.spec)
  if (oldClass !== podQosClass(pod.spec)) {
    errors.push(invalid('spec', string(pod.status, 'qosClass'), 'Pod QOS Class may not change as a result of resizing'))
  }
  const running = objects(old.status, 'containerStatuses').find((status) => isSet(maybeObject(status, 'state'), 'running'))
  if (running !== undefined && !isSet(running, 'resources'))
    errors.push(forbidden('spec', 'Pod running on node without support for resize'))
  const munged = deepClone(pod.spec)
  if (hasPodLevel(old.spec) || hasPodLevel(pod.spec)) appendAll(errors, podLevelErrors(munged, pod.spec, old.spec))
  if (objects(old.status, 'nodeAllocatableResourceClaimStatuses').length > 0) {
    errors.push(forbidden('spec', 'pods with node allocatable resource claims cannot be resized'))
  }
  const order = orderErrors(pod.spec, old.spec)
  appendAll(errors, order)
  if (order.length > 0) return errors
  appendAll(errors, removalErrors('initContainers', pod.spec, old.spec), removalErrors('containers', pod.spec, old.spec))
  appendAll(errors, containerErrors(munged, old.spec), initContainerErrors(munged, old.spec))
  if (errors.length > 0) return errors
  return semanticEqual(munged, old.spec) ? [] : [forbidden('spec', ONLY_COMPUTE)]
}

const hasPodLevel = (spec: Fields): boolean => {
  const resources = maybeObject(spec, 'resources')
  return entries(resources, 'requests').length + entries(resources, 'limits').length > 0
}

function podLevelErrors(munged: Fields, spec: Fields, old: Fields): FieldError[] {
  const [next, before] = [maybeObject(spec, 'resources'), maybeObject(old, 'resources')]
  if (before !== undefined && next === undefined) return [forbidden('spec.resources', 'pod-level resources cannot be removed')]
  const errors: FieldError[] = []
  for (const key of ['requests', 'limits']) {
    if (before !== undefined && isRemoved(next, before, key)) {
      errors.push(forbidden(`spec.resources.${key}`, `pod-level resource ${key} cannot be removed`))
    }
  }
  const rest = withOldCompute(next ?? {}, before ?? {})
  if (before === undefined && isEmpty(rest)) delete munged.resources
  else munged.resources = rest
  if (!semanticEqual(raw(munged, 'resources'), before, 'resources')) {
    errors.push(forbidden('spec', 'only cpu and memory resources are mutable at pod-level'))
  }
  return errors
}

const isEmpty = (resources: Fields): boolean =>
  entries(resources, 'requests').length + entries(resources, 'limits').length + objects(resources, 'claims').length === 0

/** The resources as sent, with cpu and memory as they were: what is left must be unchanged. */
function withOldCompute(next: Fields, old: Fields): Fields {
  const amounts = (key: string): Fields =>
    Object.fromEntries([
      ...entries(next, key).filter(([name]) => name !== 'cpu' && name !== 'memory'),
      ...entries(old, key).filter(([name]) => name === 'cpu' || name === 'memory'),
    ])
  return { limits: amounts('limits'), requests: amounts('requests') }
}

function isRemoved(next: Fields | undefined, old: Fields | undefined, key: string): boolean {
  const kept = new Set(entries(next, key).map(([name]) => name))
  return entries(old, key).some(([name]) => !kept.has(name))
}

function orderErrors(spec: Fields, old: Fields): FieldError[] {
  return LISTS.flatMap((key) => {
    const [next, before] = [objects(spec, key), objects(old, key)]
    if (next.length !== before.length) return [forbidden(`spec.${key}`, `${key} may not be added or removed on resize`)]
    return before.flatMap((container, i) =>
      string(next[i], 'name') === string(container, 'name')
        ? []
        : [forbidden(`spec.${key}[${i}].name`, `${key} may not be renamed or reordered on resize`)],
    )
  })
}

function removalErrors(list: string, spec: Fields, old: Fields): FieldError[] {
  const next = objects(spec, list)
  return objects(old, list).flatMap((before, i) =>
    ['requests', 'limits'].flatMap((key) =>
      isRemoved(maybeObject(next[i], 'resources'), maybeObject(before, 'resources'), key)
        ? [forbidden(`spec.${list}[${i}].resources.${key}`, `resource ${key} cannot be removed`)]
        : [],
    ),
  )
}

function containerErrors(munged: Fields, old: Fields): FieldError[] {
  const stored = objects(old, 'containers')
  return objects(munged, 'containers').flatMap((container, i) => {
    const before = stored[i] ?? {}
    container.resources = withOldCompute(maybeObject(container, 'resources') ?? {}, maybeObject(before, 'resources') ?? {})
    return semanticEqual(container, before) ? [] : [forbidden('spec', ONLY_COMPUTE)]
  })
}

function initContainerErrors(munged: Fields, old: Fields): FieldError[] {
  const stored = objects(old, 'initContainers')
  return objects(munged, 'initContainers').flatMap((container, i) => {
    const at = `spec.initContainers[${i}]`
    const before = stored[i] ?? {}
    const errors: FieldError[] = []
    const isModified = !semanticEqual(container, before)
    container.resources = withOldCompute(maybeObject(container, 'resources') ?? {}, maybeObject(before, 'resources') ?? {})
    if (!semanticEqual(container, before)) {
      errors.push(forbidden(at, 'only cpu and memory resources for init or sidecar containers are mutable'))
    }
    if (isModified && !isSidecar(container)) {
      for (const policy of objects(container, 'resizePolicy')) {
        if (string(policy, 'restartPolicy') !== 'RestartContainer') continue
        errors.push(forbidden(at, 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized'))
      }
    }
    return errors
  })
}

/** What this subresource accepts: resources and resize policies, provided the containers are still the same. */
export function takeResize(spec: Fields, old: Fields): Fields {
  for (const key of LISTS) if (objects(spec, key).length !== objects(old, key).length) return spec
  const taken = deepClone(old)
  if (isSet(spec, 'resources')) taken.resources = spec.resources
  else delete taken.resources
  for (const key of LISTS) {
    const next = objects(spec, key)
    const before = objects(taken, key)
    if (next.some((container, i) => string(container, 'name') !== string(before[i], 'name'))) {
      taken[key] = spec[key]
      continue
    }
    before.forEach((container, i) => {
      for (const name of ['resources', 'resizePolicy']) {
        const value = raw(next[i], name)
        if (value === undefined) delete container[name]
        else container[name] = value
      }
    })
  }
  return taken
}
