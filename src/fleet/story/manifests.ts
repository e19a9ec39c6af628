/** What the first chapter creates: a web server that is a program on this machine, and the policy that divides it over regions. */
import { parse } from 'yaml'
import type { KubeObject } from '../../kube/meta.ts'
import program from './web-server.yaml'

const { server } = parse(program) as { server: string }

export const NAMESPACE = 'default'
export const NAME = 'web'
export const REPLICAS = 6
/** Marks the chapter's own objects. */
export const STORY_LABEL = 'sluice.dev/story'
export const STORY_NAME = 'fleet'

const metadata = { name: NAME, namespace: NAMESPACE, labels: { app: NAME, [STORY_LABEL]: STORY_NAME } }

export const webDeployment = (): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata,
  spec: {
    replicas: REPLICAS,
    selector: { matchLabels: { app: NAME } },
    template: {
      metadata: { labels: { app: NAME } },
      spec: {
        terminationGracePeriodSeconds: 5,
        containers: [
          {
            name: NAME,
            image: 'this-machine',
            command: ['node', '-e', server],
            env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
            readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
})

export const webPolicy = (regions: readonly string[]): KubeObject => ({
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'PropagationPolicy',
  metadata,
  spec: {
    resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: NAME }],
    placement: {
      replicaScheduling: {
        replicaSchedulingType: 'Divided',
        replicaDivisionPreference: 'Weighted',
        weightPreference: { staticWeightList: regions.map((region) => ({ targetCluster: inRegion(region), weight: 1 })) },
      },
    },
  },
})

const inRegion = (region: string) => ({ fieldSelector: { matchExpressions: [{ key: 'region', operator: 'In', values: [region] }] } })
