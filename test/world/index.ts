/** The world for tests. */
export { AmbientUseError } from './ambient.ts'
export { WorldCluster } from './cluster.ts'
export { aWorld, World } from './world.ts'
