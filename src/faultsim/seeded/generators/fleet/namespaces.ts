/** Namespaces of the hub, which members get too. Their names differ from those that users create in members. */
import type { Generator } from '../../../../runtime/seams/seeded.ts'
import { namespaces } from '../namespace.ts'

export const fleetNamespaces: Generator = { ...namespaces, name: 'namespace of the fleet', names: ['team-c'] }
