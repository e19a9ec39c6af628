/**
 * Validation of a DataSourceClaim: exactly one of its two forms, complete, with selectors that can be read and select
 * something. The definition may be somebody else's, so nothing is left to the schema but the types.
 */
import { child, type FieldError, forbidden, invalid, required } from '../../../kube/field-error.ts'
import { goQuote } from '../../../kube/go-print.ts'
import { checkDns1035Label, checkDns1123Subdomain } from '../../../kube/names.ts'
import { invalidEach } from '../../kubernetes/rules/pod/errors.ts'
import type { DataSourceClaimSpec, WorkloadReference } from '../data-source-claim.ts'
import { LONGEST_NAME, LONGEST_WORD } from '../limits.ts'
import { isEmptySelector, selectorErrors } from './selector-rules.ts'
import { attributeErrors, isBlank, lengthErrors, textErrors } from './text-rules.ts'

type Spec = Partial<DataSourceClaimSpec>

export function dataSourceClaimErrors(spec: Spec | undefined, namespace: string): FieldError[] {
  if (spec === undefined)
    return [required('spec', 'say which data is needed, with system and dataSourceType, and by whom, with workloadSelector or workload')]
  const { system, dataSourceType, workload, workloadSelector } = spec
  const data = [
    ...textErrors('spec.system', system, { most: LONGEST_WORD, advice: 'name the data system, as in the DataSource' }),
    ...textErrors('spec.dataSourceType', dataSourceType, { most: LONGEST_WORD, advice: 'name the type of the data, as in the DataSource' }),
  ]
  if (workload !== undefined && workloadSelector !== undefined)
    return [...data, forbidden('spec.workloadSelector', 'may not be combined with workload: keep one of the two')]
  if (workload !== undefined) return [...data, ...workloadErrors('spec.workload', workload, namespace), ...builtFormErrors(spec)]
  if (workloadSelector !== undefined) return [...data, ...seedFormErrors(spec)]
  return [
    ...data,
    required('spec.workloadSelector', 'say who needs the data: select workloads by their labels, or name one in workload instead'),
  ]
}

/** volcano-global's: one workload, and data by its logical name. */
function builtFormErrors({ dataSourceName, attributes, attributesSelector }: Spec): FieldError[] {
  return [
    ...textErrors('spec.dataSourceName', dataSourceName, {
      most: LONGEST_NAME,
      advice: 'with workload, name the data as its system calls it (spec.name of the DataSource)',
    }),
    ...attributeErrors('spec.attributes', attributes),
    ...(attributesSelector === undefined
      ? []
      : [forbidden('spec.attributesSelector', 'may not be combined with workload: write attributes, or use workloadSelector')]),
  ]
}

/** The proposal's: any number of workloads, and data by attributes or by the name of the object. */
function seedFormErrors({ dataSourceName = '', workloadSelector = {}, attributes = {}, attributesSelector }: Spec): FieldError[] {
  return [
    ...(isEmptySelector(workloadSelector)
      ? [required('spec.workloadSelector', 'an empty selector would hold every workload of the namespace: demand a label')]
      : selectorErrors('spec.workloadSelector', workloadSelector)),
    ...(attributesSelector !== undefined && isEmptySelector(attributesSelector)
      ? [required('spec.attributesSelector', 'an empty selector demands nothing: demand an attribute, or leave the selector out')]
      : selectorErrors('spec.attributesSelector', attributesSelector, ATTRIBUTES_ARE_LABELS)),
    ...(Object.keys(attributes).length === 0
      ? []
      : [forbidden('spec.attributes', 'may not be combined with workloadSelector: write attributesSelector')]),
    ...(dataSourceName === '' ? [] : objectNameErrors('spec.dataSourceName', dataSourceName)),
  ]
}

const ATTRIBUTES_ARE_LABELS =
  'attributes are selected like labels; what cannot be a label can be demanded with operator Exists, or with workload and attributes'

const objectNameErrors = (path: string, name: string): FieldError[] =>
  checkDns1123Subdomain(name).length === 0
    ? []
    : [
        ...lengthErrors(path, name, LONGEST_NAME),
        invalid(
          path,
          name.slice(0, LONGEST_WORD),
          'with workloadSelector, this is metadata.name of a DataSource: write such a name, or leave it out and select by attributes',
        ),
      ]

function workloadErrors(
  path: string,
  { apiVersion, kind, name, namespace: other = '' }: WorkloadReference,
  namespace: string,
): FieldError[] {
  return [
    ...apiVersionErrors(child(path, 'apiVersion'), apiVersion),
    ...(isBlank(kind)
      ? [required(child(path, 'kind'), 'name the kind of the workload, for example Deployment')]
      : wordErrors(child(path, 'kind'), kind, checkDns1035Label(kind.toLowerCase()))),
    ...(isBlank(name)
      ? [required(child(path, 'name'), 'name the workload: a claim with workload is for exactly one')]
      : wordErrors(child(path, 'name'), name, checkDns1123Subdomain(name))),
    ...(other === '' || other === namespace ? [] : [foreignNamespaceError(child(path, 'namespace'), other, namespace)]),
  ]
}

function apiVersionErrors(path: string, apiVersion: string | undefined): FieldError[] {
  const advice = 'write group and version of the workload, for example apps/v1, or v1 for the core group'
  if (isBlank(apiVersion)) return [required(path, advice)]
  const [version = '', group, ...more] = apiVersion.split('/').reverse()
  const isRead = more.length === 0 && (group === undefined ? CORE_VERSION.test(version) : isGroup(group) && isVersion(version))
  return isRead ? [] : [invalid(path, apiVersion.slice(0, LONGEST_WORD), `is not an API version: ${advice}`)]
}

/** Without a group, anything but a version is more likely a group whose version was forgotten. */
const CORE_VERSION = /^v[0-9]+((alpha|beta)[0-9]+)?$/
const isGroup = (group: string): boolean => checkDns1123Subdomain(group).length === 0
const isVersion = (version: string): boolean => checkDns1035Label(version).length === 0

const wordErrors = (path: string, word: string, problems: readonly string[]): FieldError[] =>
  invalidEach(path, word.slice(0, LONGEST_WORD), problems)

const foreignNamespaceError = (path: string, other: string, namespace: string): FieldError =>
  invalid(
    path,
    other.slice(0, LONGEST_WORD),
    `must be the namespace of the claim, ${goQuote(namespace)}: leave it out, or create the claim where its workload is`,
  )
