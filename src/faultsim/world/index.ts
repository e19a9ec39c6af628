/** The world for tests. */
export { AmbientUseError } from './ambient.ts'
export { WorldCluster } from './cluster.ts'
export { aWorld, World, type WorldOptions } from './world.ts'
