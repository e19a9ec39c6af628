/**
 * The whole system as one list. Whatever is served, runs, can be set on the command line or appears in the references comes
 * from a module in this list, in this order.
 */
import { data } from './data/module.ts'
import { fleet } from './fleet/module.ts'
import { gate } from './gate/module.ts'
import { housekeeping } from './minicluster/housekeeping/module.ts'
import { minicluster } from './minicluster/module.ts'
import type { Module } from './runtime/module/module.ts'

export const MODULES: readonly Module[] = Object.freeze([
  // What every cluster has.
  housekeeping,
  // A member: workloads, nodes, storage, network.
  minicluster,
  // The hub: from policy to member and back.
  fleet,
  // The hub: workloads wait for their data and follow it.
  gate,
  // A member: datasets and the caches that hold them.
  data,
])
