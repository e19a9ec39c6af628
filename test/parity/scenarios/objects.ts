/** Small objects for scenarios. */
import type { Deployment, PodTemplateSpec } from '../../../src/kinds/kubernetes/types.ts'

export const template = (app: string, image = 'app:1'): PodTemplateSpec => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image }], terminationGracePeriodSeconds: 0 },
})

export const deployment = (name: string, replicas: number, spec: Record<string, unknown> = {}): Deployment =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name), ...spec },
  }) as Deployment
