/** NetworkPolicy: ports and peers of allowed ingress and egress. */
import { child, type FieldError, forbidden, index, invalid, required } from '../../../../kube/field-error.ts'
import { cidrWarnings } from '../../../../kube/ip.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkPortName } from '../../../../kube/names.ts'
import type { KindRules } from '../../../kind.ts'
import {
  defaultValue,
  ensureObject,
  type Fields,
  field,
  maybeNumber,
  maybeObject,
  maybeString,
  object,
  objects,
  string,
  strings,
  writableObjects,
} from '../fields.ts'
import { labelSelectorErrors, portNumberErrors } from '../formats.ts'
import { countChange, startGeneration } from '../generation.ts'
import { legacyCidrErrors, parseIpRange, rangeHolds } from '../ip.ts'
import { invalidEach, unsupported } from '../pod/errors.ts'

const DIRECTIONS = [
  ['ingress', 'from'],
  ['egress', 'to'],
] as const

interface Tolerance {
  selectors: boolean
  cidrs: readonly string[]
}

function applyDefaults(policy: KubeObject): void {
  const spec = ensureObject(policy, 'spec')
  for (const [direction] of DIRECTIONS)
    for (const rule of writableObjects(spec, direction))
      for (const port of writableObjects(rule, 'ports')) defaultValue(port, 'protocol', 'TCP')
  if (strings(spec, 'policyTypes').length > 0) return
  spec.policyTypes = objects(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress']
}

function portErrors(path: string, port: Fields): FieldError[] {
  const errors: FieldError[] = []
  const protocol = maybeString(port, 'protocol')
  const protocols = ['TCP', 'UDP', 'SCTP']
  if (protocol !== undefined && !protocols.includes(protocol)) errors.push(unsupported(child(path, 'protocol'), protocol, protocols))
  const number = field(port, 'port')
  const end = maybeNumber(port, 'endPort')
  const endPath = child(path, 'endPort')
  if (typeof number === 'number') {
    errors.push(...portNumberErrors(child(path, 'port'), number))
    if (end === undefined) return errors
    if (end < number) errors.push(invalid(endPath, number, 'must be greater than or equal to `port`'))
    return [...errors, ...portNumberErrors(endPath, end)]
  }
  if (typeof number === 'string') {
    if (end !== undefined) errors.push(invalid(endPath, end, 'may not be specified when `port` is non-numeric'))
    return [...errors, ...invalidEach(child(path, 'port'), number, checkPortName(number))]
  }
  return end === undefined ? errors : [...errors, invalid(endPath, end, 'may not be specified when `port` is not specified')]
}

function peerErrors(path: string, peer: Fields, tolerance: Tolerance): FieldError[] {
  const block = maybeObject(peer, 'ipBlock')
  const selectors = ['podSelector', 'namespaceSelector'].filter((key) => field(peer, key) !== undefined)
  const errors = selectors.flatMap((key) => labelSelectorErrors(child(path, key), maybeObject(peer, key), tolerance.selectors))
  if (block !== undefined) errors.push(...blockErrors(child(path, 'ipBlock'), block, tolerance))
  if (selectors.length === 0 && block === undefined) errors.push(required(path, 'must specify a peer'))
  else if (selectors.length > 0 && block !== undefined) errors.push(forbidden(path, 'may not specify both ipBlock and another peer'))
  return errors
}

function blockErrors(path: string, block: Fields, { cidrs }: Tolerance): FieldError[] {
  const cidr = string(block, 'cidr')
  if (cidr === '') return [required(child(path, 'cidr'))]
  const errors = legacyCidrErrors(child(path, 'cidr'), cidr, cidrs)
  const range = parseIpRange(cidr)
  if (range === undefined) return errors
  for (const [i, except] of strings(block, 'except').entries()) {
    const at = index(child(path, 'except'), i)
    errors.push(...legacyCidrErrors(at, except, cidrs))
    const hole = parseIpRange(except)
    if (hole === undefined) continue
    const isInside = hole.family === range.family && rangeHolds(range, hole.start) && hole.size < range.size
    if (!isInside) errors.push(invalid(at, except, 'must be a strict subset of `cidr`'))
  }
  return errors
}

function policyErrors(policy: KubeObject, tolerance: Tolerance): FieldError[] {
  const spec = object(policy, 'spec')
  const errors = labelSelectorErrors('spec.podSelector', object(spec, 'podSelector'), tolerance.selectors)
  for (const [direction, peers] of DIRECTIONS) {
    for (const [i, rule] of objects(spec, direction).entries()) {
      const path = index(child('spec', direction), i)
      errors.push(...objects(rule, 'ports').flatMap((port, j) => portErrors(index(child(path, 'ports'), j), port)))
      errors.push(...objects(rule, peers).flatMap((peer, j) => peerErrors(index(child(path, peers), j), peer, tolerance)))
    }
  }
  const types = strings(spec, 'policyTypes')
  if (types.length > 2) return [...errors, invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')]
  return [
    ...errors,
    ...types.flatMap((type, i) =>
      type === 'Ingress' || type === 'Egress' ? [] : [unsupported(index('spec.policyTypes', i), type, ['Ingress', 'Egress'])],
    ),
  ]
}

const blocksOf = (policy: KubeObject): { path: string; block: Fields }[] =>
  DIRECTIONS.flatMap(([direction, peers]) =>
    objects(object(policy, 'spec'), direction).flatMap((rule, i) =>
      objects(rule, peers).flatMap((peer, j) => {
        const block = maybeObject(peer, 'ipBlock')
        const path = child(index(child(index(child('spec', direction), i), peers), j), 'ipBlock')
        return block === undefined ? [] : [{ path, block }]
      }),
    ),
  )

export const networkPolicyRules: KindRules = {
  applyDefaults,
  prepareForCreate: startGeneration,
  prepareForUpdate: (policy, old) => countChange(policy, old),
  validateCreate: (policy) => policyErrors(policy, { selectors: false, cidrs: [] }),
  validateUpdate: (policy, old) =>
    policyErrors(policy, {
      selectors: labelSelectorErrors('', object(object(old, 'spec'), 'podSelector')).length > 0,
      cidrs: blocksOf(old).flatMap(({ block }) => [string(block, 'cidr'), ...strings(block, 'except')]),
    }),
  warnings: (policy) =>
    blocksOf(policy).flatMap(({ path, block }) => [
      ...cidrWarnings(child(path, 'cidr'), string(block, 'cidr')),
      ...strings(block, 'except').flatMap((except, i) => cidrWarnings(index(child(path, 'except'), i), except)),
    ]),
  tracksGeneration: true,
}
