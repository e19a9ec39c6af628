/** The world for tests. */
export { AmbientUseError } from './ambient.ts'
export { type RunControllers, WorldCluster } from './cluster.ts'
export { aWorld, World, type WorldOptions } from './world.ts'
