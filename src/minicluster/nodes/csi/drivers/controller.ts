/**
 * A CSIDriver object for every registered CSI driver, as a driver's installation would make it. One that exists is left as
 * it is. Sole writer of: those objects. Runs again when such an object changes.
 */
import { CSI_DRIVERS } from '../../../../kinds/kubernetes/resources.ts'
import { type Controller, defineController, NOTHING_TO_DO } from '../../../../runtime/controller.ts'
import type { CsiDriver } from '../../../../runtime/seams/csi-driver.ts'

export function csiDriverObjects(drivers: readonly CsiDriver[]): Controller {
  return defineController<CsiDriver | undefined>({
    name: 'minicluster.nodes.csi.drivers',
    for: CSI_DRIVERS,
    signals: [
      {
        subscribe(enqueue) {
          for (const { name } of drivers) enqueue({ namespace: '', name })
          return () => undefined
        },
      },
    ],
    writes: [{ resource: CSI_DRIVERS, verbs: ['create'] }],
    observe: ({ name }, existing) => (existing === undefined ? drivers.find((driver) => driver.name === name) : undefined),
    plan: (missing) =>
      missing === undefined ? NOTHING_TO_DO : { actions: [{ do: 'create', resource: CSI_DRIVERS, object: objectOf(missing) }] },
  })
}

const objectOf = ({ name, spec }: CsiDriver) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name },
  spec: { ...spec },
})
