/** A webhook server that knows boats, as users would write one for their own kind, and its failure modes. */
import type { AggregatedStatusItem } from '../../src/kinds/karmada/index.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Listening } from './listening.ts'
import type { OwnKind } from './own-kind.ts'
import type { FleetTestbed } from './story.ts'

export interface Boat extends KubeObject {
  spec: { seats?: number; captain?: string; color?: string; chart?: string }
  status?: { sailing?: number; weather?: string }
}

interface Request {
  uid: string
  operation: string
  namespace: string
  object: Boat
  observedObject?: Boat
  replicas: number
  aggregatedStatus?: AggregatedStatusItem[]
}

const patchOf = (...operations: readonly unknown[]) => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})

const sailingIn = ({ status }: AggregatedStatusItem): number => (status as Boat['status'])?.sailing ?? 0

const ANSWERS: Readonly<Record<string, (request: Request) => Record<string, unknown>>> = {
  InterpretReplica: ({ object }) => ({ replicas: object.spec.seats, replicaRequirements: { resourceRequest: { cpu: '100m' } } }),
  ReviseReplica: ({ replicas }) => patchOf({ op: 'replace', path: '/spec/seats', value: replicas }),
  Retain({ observedObject }) {
    const captain = observedObject?.spec.captain
    return captain === undefined ? {} : patchOf({ op: 'add', path: '/spec/captain', value: captain })
  },
  AggregateStatus: ({ aggregatedStatus = [] }) =>
    patchOf({ op: 'add', path: '/status', value: { sailing: aggregatedStatus.reduce((sum, item) => sum + sailingIn(item), 0) } }),
  InterpretDependency: ({ object, namespace }) => ({
    dependencies: [{ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: object.spec.chart }],
  }),
  InterpretStatus: ({ object }) => ({ rawStatus: { sailing: object.status?.sailing ?? 0 } }),
  InterpretHealth: ({ object }) => ({ healthy: object.status?.sailing === object.spec.seats }),
}

export const KNOWN_OPERATIONS: readonly string[] = Object.keys(ANSWERS)

/** How it handles a request: answers, refuses, or returns something unintelligible. */
type Mood = 'well' | 'refusing' | 'confused'

export class BoatWebhook {
  mood: Mood = 'well'
  readonly asked = new Set<string>()

  readonly answer = (body: string): string => {
    const { request, ...context } = JSON.parse(body) as { request: Request; apiVersion: string; kind: string }
    const { uid, operation } = request
    this.asked.add(operation)
    if (this.mood === 'confused') return '<html>Bad Gateway</html>'
    const said = (response: Record<string, unknown>): string => JSON.stringify({ ...context, response: { uid, ...response } })
    if (this.mood === 'refusing') return said({ successful: false, status: { code: 503, message: 'the harbour is closed' } })
    return said({ successful: true, ...ANSWERS[operation]?.(request) })
  }
}

/** From now on the fleet calls `webhook` about this kind, for every operation it supports. */
export async function askAbout(testbed: FleetTestbed, { resource, kind }: OwnKind, webhook: BoatWebhook): Promise<Listening> {
  const listening = await testbed.listen(webhook.answer)
  const rules = [{ operations: KNOWN_OPERATIONS, apiGroups: [resource.group], apiVersions: [resource.version], kinds: [kind] }]
  const { clientConfig } = listening
  await testbed.hub.create({
    apiVersion: 'config.karmada.io/v1alpha1',
    kind: 'ResourceInterpreterWebhookConfiguration',
    metadata: { name: testbed.unique('boats') },
    webhooks: [{ name: `boats.${resource.group}`, clientConfig, rules, interpreterContextVersions: ['v1alpha1'] }],
  } as KubeObject)
  return listening
}
