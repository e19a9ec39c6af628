/** Servers that define how kinds are read and written. */
import { type Static, s, type Typed } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import type { InterpreterOperation } from './interpreter-operations.ts'
import { CATEGORIES, GROUPS, strings } from './kube-schemas.ts'

const clientConfig = s.object(
  {
    url: s.optional(s.string({ description: 'The address, beginning with https.' })),
    service: s.optional(
      s.object(
        {
          namespace: s.string({ description: 'The namespace of the service.' }),
          name: s.string({ description: 'The name of the service.' }),
          path: s.optional(s.string({ description: 'The path that is asked.' })),
          port: s.optional(s.int32({ description: 'The port; default 443.' })),
        },
        { description: 'The service, instead of an address.' },
      ),
    ),
    caBundle: s.optional(s.string({ format: 'byte', description: 'The authority of the server, PEM.' })),
  },
  { description: 'Where the server is.' },
)

const rule = s.object({
  // Admission checks which ones exist: the schema would give a different message.
  operations: s.array(s.string() as Typed<InterpreterOperation | '*'>, { description: 'What is asked; `*`: everything.' }),
  apiGroups: strings('The groups of the kinds; `*`: all.'),
  apiVersions: strings('The versions of the kinds; `*`: all.'),
  kinds: strings('The kinds; `*`: all.'),
})

const webhook = s.object({
  name: s.string({ description: 'The full name: at least three parts with dots between them.' }),
  clientConfig,
  rules: s.optional(s.array(rule, { description: 'What the server is asked.' })),
  timeoutSeconds: s.optional(s.int32({ description: 'How long an answer is waited for, 1 to 30; absent: for ever.' })),
  interpreterContextVersions: strings('The versions of the questions it understands, the best first.'),
})

export const ResourceInterpreterWebhookConfiguration = defineKind({
  group: GROUPS.config,
  kind: 'ResourceInterpreterWebhookConfiguration',
  plural: 'resourceinterpreterwebhookconfigurations',
  categories: CATEGORIES,
  scope: 'Cluster',
  versions: {
    v1alpha1: {
      schema: s.object({ webhooks: s.array(webhook, { description: 'The servers.' }) }),
      description: 'ResourceInterpreterWebhookConfiguration names servers that say how kinds are interpreted.',
    },
  },
})

export type ResourceInterpreterWebhookConfiguration = ObjectOf<typeof ResourceInterpreterWebhookConfiguration, 'v1alpha1'>
export type ResourceInterpreterWebhook = Static<typeof webhook>
export type InterpreterRule = Static<typeof rule>
export type WebhookClientConfig = Static<typeof clientConfig>
