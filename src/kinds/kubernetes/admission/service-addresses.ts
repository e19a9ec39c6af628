/** Incoming Services get their addresses and node ports, as the last mutation before validation. */
import { type Admission, defineAdmission } from '../../admission.ts'
import { type ServiceAllocatorOptions, serviceAllocator } from '../rules/core/service-allocator.ts'

const SERVICES = { group: '', resource: 'services' }

/** One per cluster: it remembers its allocations. */
export function serviceAddresses(options: ServiceAllocatorOptions = {}): Admission {
  const allocator = serviceAllocator(options)
  return defineAdmission({
    name: 'ServiceAddresses',
    about: 'Gives a Service cluster addresses, node ports and a health-check port, and takes care that none is given twice.',
    resources: [SERVICES],
    operations: ['CREATE', 'UPDATE'],
    mutate({ object: service, oldObject, operation, namespace, dryRun }, { read, nowMs }) {
      if (service === undefined) return
      service.metadata.namespace ??= namespace
      allocator.allocate(service, operation === 'UPDATE' ? oldObject : undefined, { services: () => read.list(SERVICES), nowMs, dryRun })
    },
  })
}
