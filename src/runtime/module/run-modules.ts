/**
 * Runs the modules of a cluster in this process, against any API server: builds what they share, starts each, combines their
 * seams, and drives their controllers. Knows no module by name.
 */

import { type ConnectMember, NO_MEMBERS } from '../../client/members.ts'
import type { Controller } from '../controller.ts'
import { followMembers } from '../followed-members.ts'
import { createPropagatable } from '../propagatable.ts'
import { type RunAllOptions, type RunningControllers, runAll } from '../run-all.ts'
import { joinSeams } from '../seams/seams.ts'
import { createTemplates, type Templates } from '../templates.ts'
import type { ClusterRole, ModuleEnv, ProcessDeps } from './env.ts'
import type { Module } from './module.ts'

export interface RunModulesOptions extends ProcessDeps, Omit<RunAllOptions, 'keepsWhole'> {
  role: ClusterRole
  modules: readonly Module[]
  /** How members are reached (default: not at all, and modules that need them do not run). */
  connectMember?: ConnectMember
}

/** Those that run in clusters of this role, given what the process offers. */
const modulesOf = (role: ClusterRole, modules: readonly Module[], { reachesMembers }: { reachesMembers: boolean }): readonly Module[] =>
  modules.filter((module) => module.roles.includes(role) && (reachesMembers || !module.needsMembers))

/** Declared by all modules, whether or not they run here: the kinds of a module do not depend on which modules run. */
export const propagatableBy = (modules: readonly Module[]) =>
  createPropagatable({ neverTravel: modules.flatMap(({ neverTravel = [] }) => neverTravel) })

export function runModules(options: RunModulesOptions): RunningControllers {
  const { role, connectMember, authority, signToken, postJson, registry } = options
  const reachesMembers = connectMember !== undefined
  const modules = modulesOf(role, options.modules, { reachesMembers })
  const propagatable = propagatableBy(options.modules)
  const keepsWhole = modules.flatMap((module) => module.keepsWhole ?? [])
  return runAll(
    {
      ...options,
      keepsWhole: keepsWhole.length === 0 ? undefined : (resource) => keepsWhole.some((keeps) => keeps(resource, { propagatable })),
    },
    (shared) => {
      const { caches, clusterCache, keepsManager, observer } = shared
      const { clock, random, log } = options
      const members =
        connectMember === undefined ? undefined : followMembers({ caches, connect: connectMember, keepsManager, clock, random })
      let templates: Templates | undefined
      const env: ModuleEnv = {
        ...shared,
        role,
        clock,
        random,
        log,
        observer,
        authority,
        signToken,
        postJson,
        registry,
        propagatable,
        members: members ?? NO_MEMBERS,
        get templates() {
          templates ??= createTemplates(clusterCache, propagatable)
          return templates
        },
      }
      const running = modules.map((module) => module.start(env))
      const seams = joinSeams(running.map((module) => module.seams))
      const controllers: Controller[] = running.flatMap((module) => module.controllers(seams))
      return {
        controllers,
        members,
        loops: running.flatMap(({ loops }) => loops),
        ready: Promise.all(running.flatMap(({ ready }) => (ready === undefined ? [] : [ready]))),
        observes: running.flatMap(({ observes }) => observes ?? []),
      }
    },
  )
}
