/** A module for tests whose pods keep something on their node: as long as there is a ConfigMap of the name that a label says. */
import { CONFIG_MAPS } from '../../../kinds/kubernetes/resources.ts'
import { defineModule } from '../../../runtime/module/module.ts'
import type { NodeData } from '../../../runtime/seams/node-data.ts'

export const STORE = '/runtime-mnt/store'
const LABEL = 'example.com/stores-for'
const VOLUME = 'store'

export const storeData: NodeData = {
  owners: [CONFIG_MAPS],
  of({ metadata: { namespace = '', labels = {} }, spec }) {
    const owner = labels[LABEL]
    const path = spec?.volumes?.find(({ name }) => name === VOLUME)?.hostPath?.path
    return owner === undefined || path === undefined ? [] : [{ volume: VOLUME, path: `${path}/${namespace}/${owner}`, owner }]
  },
}

export const storeModule = () =>
  defineModule({
    name: 'store',
    roles: ['member'],
    upstreamLeases: [],
    defaults: {},
    services: () => ({}),
    controllers: () => [],
    seams: { nodeData: [storeData] },
  })

/** Of a pod that keeps something for this owner. */
export const storing = (owner: string, path = STORE) => ({
  metadata: { labels: { [LABEL]: owner } },
  spec: { automountServiceAccountToken: false, volumes: [{ name: VOLUME, hostPath: { path, type: 'DirectoryOrCreate' } }] },
  container: { volumeMounts: [{ name: VOLUME, mountPath: '/store' }] },
})
