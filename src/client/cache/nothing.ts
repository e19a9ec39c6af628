/** Of a server that has nothing, and of a fleet without members: for those who only ask what is declared. */
import type { Members } from '../members.ts'
import type { Everything } from './everything.ts'

const nobody = (): (() => void) => () => undefined

export const NOTHING: Everything = Object.freeze({
  get: () => undefined,
  all: () => [],
  inNamespace: () => [],
  dependentsOf: () => [],
  resourceOf: () => undefined,
  resourceByKey: () => undefined,
  resourceNamed: () => undefined,
  follows: () => false,
  informerOf: () => undefined,
  subscribe: nobody,
  onResources: nobody,
  isComplete: () => true,
  ready: async () => undefined,
  behind: () => [],
  stop: () => undefined,
})

export const NO_MEMBERS: Members = Object.freeze({ get: () => undefined, list: () => [], subscribe: nobody })
