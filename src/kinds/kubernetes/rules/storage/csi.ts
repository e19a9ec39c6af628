/** CSIDriver, CSINode, CSIStorageCapacity and VolumeAttachment: what storage drivers declare, and attachment requests. */
import { child, duplicate, type FieldError, forbidden, index, invalid, required, tooLong } from '../../../../kube/field-error.ts'
import { byteLength } from '../../../../kube/go-print.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkDns1123Subdomain } from '../../../../kube/names.ts'
import { formatQuantity, quantitySign } from '../../../../kube/quantity.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import { volumeSpecErrors } from '../core/persistent-volume.ts'
import { csiDriverNameErrors } from '../core/persistent-volume-source.ts'
import {
  defaultValue,
  ensureObject,
  type Fields,
  field,
  maybeBoolean,
  maybeNumber,
  maybeObject,
  maybeString,
  object,
  objects,
  restore,
  restoreMetadata,
  string,
  stringEntries,
  strings,
} from '../fields.ts'
import { dnsSubdomainErrors, immutableErrors, labelSelectorErrors, qualifiedNameErrors, quantity } from '../formats.ts'
import { countChange } from '../generation.ts'
import { invalidEach, nonNegative, unsupported } from '../pod/errors.ts'
import { semanticEqual } from '../pod/semantic.ts'
import { deprecatedNodeLabel } from './node-labels.ts'

const TOKEN_WARNING =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes'

function driverDefaults(driver: KubeObject): void {
  const spec = ensureObject(driver, 'spec')
  defaultValue(spec, 'attachRequired', true)
  defaultValue(spec, 'podInfoOnMount', false)
  defaultValue(spec, 'storageCapacity', false)
  defaultValue(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType')
  if (strings(spec, 'volumeLifecycleModes').length === 0) spec.volumeLifecycleModes = ['Persistent']
  defaultValue(spec, 'requiresRepublish', false)
  defaultValue(spec, 'seLinuxMount', false)
}

function tokenRequestErrors(spec: Fields): FieldError[] {
  const seen = new Set<string>()
  return objects(spec, 'tokenRequests').flatMap((request, i) => {
    const path = index('spec.tokenRequests', i)
    const audience = string(request, 'audience')
    if (seen.has(audience)) return [duplicate(child(path, 'audience'), audience)]
    seen.add(audience)
    const seconds = maybeNumber(request, 'expirationSeconds')
    if (seconds === undefined) return []
    const at = child(path, 'expirationSeconds')
    if (seconds < 600) return [invalid(at, seconds, 'may not specify a duration less than 10 minutes')]
    return seconds > 2 ** 32 ? [invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds')] : []
  })
}

function driverErrors(driver: KubeObject): FieldError[] {
  const spec = object(driver, 'spec')
  const errors: FieldError[] = []
  if (maybeBoolean(spec, 'attachRequired') === undefined) errors.push(required('spec.attachedRequired'))
  for (const key of ['podInfoOnMount', 'storageCapacity'])
    if (maybeBoolean(spec, key) === undefined) errors.push(required(child('spec', key)))
  const policy = maybeString(spec, 'fsGroupPolicy')
  const policies = ['File', 'None', 'ReadWriteOnceWithFSType']
  if (policy !== undefined && !policies.includes(policy)) errors.push(unsupported('spec.fsGroupPolicy', policy, policies))
  errors.push(...tokenRequestErrors(spec))
  for (const mode of strings(spec, 'volumeLifecycleModes'))
    if (!['Persistent', 'Ephemeral'].includes(mode))
      errors.push(unsupported('spec.volumeLifecycleModes', mode, ['Persistent', 'Ephemeral']))
  if (maybeBoolean(spec, 'seLinuxMount') === undefined) errors.push(required('spec.seLinuxMount'))
  const period = maybeNumber(spec, 'nodeAllocatableUpdatePeriodSeconds')
  if (period !== undefined && period < 10)
    errors.push(invalid('spec.nodeAllocatableUpdatePeriodSeconds', period, 'must be greater than or equal to 10 seconds'))
  const inSecrets = maybeBoolean(spec, 'serviceAccountTokenInSecrets')
  if (inSecrets !== undefined && objects(spec, 'tokenRequests').length === 0)
    errors.push(
      invalid('spec.serviceAccountTokenInSecrets', inSecrets, 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'),
    )
  return errors
}

export const csiDriverRules: KindRules = {
  applyDefaults: driverDefaults,
  prepareForCreate(driver) {
    delete ensureObject(driver, 'spec').preventPodSchedulingIfMissing
  },
  prepareForUpdate(driver, old) {
    if (field(object(old, 'spec'), 'preventPodSchedulingIfMissing') === undefined)
      delete ensureObject(driver, 'spec').preventPodSchedulingIfMissing
    countChange(driver, old)
    if (driver.metadata.generation === 0) delete driver.metadata.generation
  },
  validateCreate: driverErrors,
  validateUpdate: (driver, old) => [
    ...driverErrors(driver),
    ...immutableErrors(
      'spec.attachedRequired',
      field(object(driver, 'spec'), 'attachRequired'),
      field(object(old, 'spec'), 'attachRequired'),
    ),
    ...immutableErrors(
      'spec.volumeLifecycleModes',
      field(object(driver, 'spec'), 'volumeLifecycleModes'),
      field(object(old, 'spec'), 'volumeLifecycleModes'),
    ),
  ],
  warnings(driver, old) {
    const spec = object(driver, 'spec')
    if (objects(spec, 'tokenRequests').length === 0 || field(spec, 'serviceAccountTokenInSecrets') !== undefined) return []
    const unchanged = old !== undefined && semanticEqual(spec.tokenRequests, object(old, 'spec').tokenRequests)
    return unchanged ? [] : [TOKEN_WARNING]
  },
  allowUnconditionalUpdate: false,
}

function nodeDriverErrors(node: KubeObject): FieldError[] {
  const names = new Set<string>()
  return objects(object(node, 'spec'), 'drivers').flatMap((driver, i) => {
    const path = index('spec.drivers', i)
    const [name, id] = [string(driver, 'name'), string(driver, 'nodeID')]
    const errors = csiDriverNameErrors(child(path, 'name'), name)
    if (id === '') errors.push(required(child(path, 'nodeID')))
    if (byteLength(id) > 256) errors.push(invalid(child(path, 'nodeID'), id, 'must be 256 characters or less'))
    errors.push(...nonNegative(child(path, 'allocatable', 'count'), maybeNumber(object(driver, 'allocatable'), 'count')))
    if (names.has(name)) errors.push(duplicate(child(path, 'name'), name))
    names.add(name)
    const keys = strings(driver, 'topologyKeys')
    for (const [j, key] of keys.entries()) {
      if (key === '') errors.push(required(path))
      if (keys.indexOf(key) < j) errors.push(duplicate(path, key))
      errors.push(...qualifiedNameErrors(path, key))
    }
    return errors
  })
}

function nodeDriverChangeErrors(node: KubeObject, old: KubeObject): FieldError[] {
  const shown = (driver: Fields): Fields => ({
    Name: string(driver, 'name'),
    NodeID: string(driver, 'nodeID'),
    TopologyKeys: field(driver, 'topologyKeys') ?? null,
    Allocatable: null,
  })
  return objects(object(old, 'spec'), 'drivers').flatMap((before) =>
    objects(object(node, 'spec'), 'drivers').flatMap((after) =>
      string(before, 'name') === string(after, 'name') ? immutableErrors('spec.drivers', shown(after), shown(before)) : [],
    ),
  )
}

export const csiNodeRules: KindRules = {
  validateCreate: nodeDriverErrors,
  validateUpdate: (node, old) => [...nodeDriverErrors(node), ...nodeDriverChangeErrors(node, old)],
  allowUnconditionalUpdate: false,
}

function capacityErrors(capacity: KubeObject, tolerant: boolean): FieldError[] {
  const errors = labelSelectorErrors('nodeTopology', maybeObject(capacity, 'nodeTopology'), tolerant)
  const name = string(capacity, 'storageClassName')
  errors.push(...dnsSubdomainErrors('storageClassName', name))
  const amount = quantity(capacity, 'capacity')
  if (quantitySign(amount) < 0) errors.push(invalid('capacity', formatQuantity(amount), 'must be greater than or equal to 0'))
  return errors
}

export const csiStorageCapacityRules: KindRules = {
  validateCreate: (capacity) => capacityErrors(capacity, false),
  validateUpdate(capacity, old) {
    const errors = capacityErrors(capacity, labelSelectorErrors('', maybeObject(old, 'nodeTopology')).length > 0)
    if (!semanticEqual(capacity.nodeTopology, old.nodeTopology))
      errors.push(invalid('nodeTopology', field(capacity, 'nodeTopology') ?? null, 'field is immutable'))
    return [...errors, ...immutableErrors('storageClassName', string(capacity, 'storageClassName'), string(old, 'storageClassName'))]
  },
  warnings: (capacity) =>
    objects(object(capacity, 'nodeTopology'), 'matchExpressions').flatMap((expression, i) => {
      const key = string(expression, 'key')
      const message = deprecatedNodeLabel(key)
      return message === undefined ? [] : [`${child(index('nodeTopology.matchExpressions', i), 'key')}: ${key} is ${message}`]
    }),
  allowUnconditionalUpdate: false,
}

function attachmentErrors(attachment: KubeObject): FieldError[] {
  const spec = object(attachment, 'spec')
  const errors = csiDriverNameErrors('spec.attacher', string(spec, 'attacher'))
  const source = object(spec, 'source')
  const [volume, inline] = [maybeString(source, 'persistentVolumeName'), maybeObject(source, 'inlineVolumeSpec')]
  const one = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (volume === undefined && inline === undefined) errors.push(required('spec.source', one))
  else if (volume !== undefined && inline !== undefined) errors.push(forbidden('spec.source', one))
  else if (volume === '') errors.push(required('spec.source.persistentVolumeName', 'must specify non empty persistentVolumeName'))
  else if (inline !== undefined)
    errors.push(...volumeSpecErrors(inline, { name: '', path: 'spec.source.inlineVolumeSpec', inline: true, tolerant: false }))
  errors.push(...dnsSubdomainErrors('spec.nodeName', string(spec, 'nodeName')))
  errors.push(...attachmentStatusErrors(object(attachment, 'status')))
  if (volume !== undefined) errors.push(...invalidEach('spec.source.persistentVolumeName', volume, checkDns1123Subdomain(volume)))
  return errors
}

function attachmentStatusErrors(status: Fields): FieldError[] {
  const size = stringEntries(status, 'attachmentMetadata').reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0)
  const errors = size > 256 * 1024 ? [tooLong('status.attachmentMetadata', 256 * 1024)] : []
  for (const key of ['attachError', 'detachError']) {
    const problem = maybeObject(status, key)
    if (problem === undefined) continue
    const path = child('status', key)
    if (byteLength(string(problem, 'message')) > 1024) errors.push(tooLong(child(path, 'message'), 256 * 1024))
    const code = maybeNumber(problem, 'errorCode')
    if (code !== undefined && code < 0) errors.push(invalid(child(path, 'errorCode'), code, 'must be between 0 and 2147483647, inclusive'))
  }
  return errors
}

function prepareAttachmentUpdate(attachment: KubeObject, old: KubeObject, { subresource }: RuleContext): void {
  if (subresource !== 'status') {
    restore(attachment, old, 'status')
    return
  }
  restore(attachment, old, 'spec')
  restoreMetadata(attachment, old)
}

function internalAttachment(attachment: KubeObject): Fields {
  const spec = object(attachment, 'spec')
  const source = object(spec, 'source')
  return {
    Attacher: string(spec, 'attacher'),
    Source: {
      PersistentVolumeName: field(source, 'persistentVolumeName') ?? null,
      InlineVolumeSpec: field(source, 'inlineVolumeSpec') ?? null,
    },
    NodeName: string(spec, 'nodeName'),
  }
}

export const volumeAttachmentRules: KindRules = {
  prepareForCreate(attachment) {
    attachment.status = { attached: false }
  },
  prepareForUpdate: prepareAttachmentUpdate,
  validateCreate: attachmentErrors,
  validateUpdate: (attachment, old) => [
    ...attachmentErrors(attachment),
    ...(semanticEqual(attachment.spec, old.spec, 'spec') ? [] : [invalid('spec', internalAttachment(attachment), 'field is immutable')]),
  ],
  allowUnconditionalUpdate: false,
}
