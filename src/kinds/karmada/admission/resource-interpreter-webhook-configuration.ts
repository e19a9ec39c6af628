/** Interpreter servers must be named, reachable and speak our version; the operations they are called for must exist. */
import { child, duplicate, type FieldError, index, invalid, notSupported, required } from '../../../kube/field-error.ts'
import { type Admission, defineAdmission } from '../../admission.ts'
import { clientConfigErrors, qualifiedHookName, spokenVersionErrors } from '../../kubernetes/rules/admissionregistration/webhooks.ts'
import { INTERPRETER_OPERATIONS } from '../interpreter-operations.ts'
import { GROUPS } from '../kube-schemas.ts'
import type {
  InterpreterRule,
  ResourceInterpreterWebhook,
  ResourceInterpreterWebhookConfiguration,
  WebhookClientConfig,
} from '../resource-interpreter-webhook-configuration.ts'
import { isBeingDeleted } from './metadata.ts'

const CONTEXT_VERSIONS = ['v1alpha1']
/** Prune is reserved: it is never called. */
const OPERATIONS: readonly string[] = ['*', ...INTERPRETER_OPERATIONS.filter((operation) => operation !== 'Prune')]
const DEFAULT_PORT = 443

export const interpreterWebhookAdmission: Admission = defineAdmission({
  name: 'ResourceInterpreterWebhookConfiguration',
  about: 'Refuses interpreter webhooks that cannot be reached, do not speak our version, or are asked what nobody asks.',
  resources: [{ group: GROUPS.config, resource: 'resourceinterpreterwebhookconfigurations' }],
  operations: ['CREATE', 'UPDATE'],
  validate: ({ object }) =>
    object === undefined || isBeingDeleted(object)
      ? undefined
      : configurationErrors((object as ResourceInterpreterWebhookConfiguration).webhooks),
})

function configurationErrors(webhooks: readonly ResourceInterpreterWebhook[]): FieldError[] {
  const names = new Set<string>()
  return webhooks.flatMap((webhook, i) => {
    const path = index('webhooks', i)
    const isTaken = names.has(webhook.name)
    names.add(webhook.name)
    return [...webhookErrors(path, webhook), ...(isTaken ? [duplicate(child(path, 'name'), webhook.name)] : [])]
  })
}

function webhookErrors(path: string, webhook: ResourceInterpreterWebhook): FieldError[] {
  const { name, rules = [], timeoutSeconds, clientConfig, interpreterContextVersions } = webhook
  return [
    ...qualifiedHookName(child(path, 'name'), name),
    ...rules.flatMap((rule, i) => ruleErrors(index(child(path, 'rules'), i), rule)),
    ...(timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > 30)
      ? [invalid(child(path, 'timeoutSeconds'), timeoutSeconds, 'the timeout value must be between 1 and 30 seconds')]
      : []),
    ...clientConfigErrors(child(path, 'clientConfig'), withPort(clientConfig)),
    ...versionErrors(child(path, 'interpreterContextVersions'), interpreterContextVersions),
  ]
}

const withPort = (config: WebhookClientConfig): Record<string, unknown> =>
  config.service === undefined ? config : { ...config, service: { port: DEFAULT_PORT, ...config.service } }

const versionErrors = (path: string, versions: readonly string[]): FieldError[] =>
  versions.length === 0
    ? [required(path, `must specify one of ${CONTEXT_VERSIONS.join(', ')}`)]
    : spokenVersionErrors(path, versions, CONTEXT_VERSIONS)

function ruleErrors(path: string, { operations, apiGroups, apiVersions, kinds }: InterpreterRule): FieldError[] {
  const at = child(path, 'operations')
  return [
    ...listErrors(at, operations, 'operations'),
    ...operations.flatMap((operation, i) => (OPERATIONS.includes(operation) ? [] : [notSupported(index(at, i), operation, OPERATIONS)])),
    // The core group is the empty one.
    ...listErrors(child(path, 'apiGroups'), apiGroups, 'API groups'),
    ...listErrors(child(path, 'apiVersions'), apiVersions, 'API versions'),
    ...emptyErrors(child(path, 'apiVersions'), apiVersions),
    ...listErrors(child(path, 'kinds'), kinds, 'kinds'),
    ...emptyErrors(child(path, 'kinds'), kinds),
  ]
}

function listErrors(path: string, values: readonly string[], what: string): FieldError[] {
  if (values.length === 0) return [required(path)]
  if (values.length === 1 || !values.includes('*')) return []
  return [invalid(path, values, `if '*' is present, must not specify other ${what}`)]
}

const emptyErrors = (path: string, values: readonly string[]): FieldError[] =>
  values.flatMap((value, i) => (value === '' ? [required(index(path, i))] : []))
