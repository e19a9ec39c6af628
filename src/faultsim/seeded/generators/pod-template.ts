/** What the workloads of seeds run: pods that fit on any node, whose image is changed when a workload is updated. */
export interface Running {
  replicas: number
  image: string
}

export const IMAGES = ['app:1', 'app:2', 'app:3']

export function templateOf(app: string, image: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'app', image, resources: { requests: { cpu: '100m', memory: '64Mi' } } }], ...more },
  }
}

/** The last part of `namespace/name`. */
export const appOf = (where: string): string => where.slice(where.indexOf('/') + 1)

export function metadataOf(where: string): { namespace: string; name: string } {
  const [namespace = '', name = ''] = where.split('/')
  return { namespace, name }
}
