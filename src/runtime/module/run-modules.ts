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
  /** All there are: what a module declares about its kinds holds although it does not run here. */
  modules: readonly Module[]
  /** Names of modules that stand back (default: none). */
  standingBack?: readonly string[]
  /** How members are reached (default: not at all, and modules that need them do not run). */
  connectMember?: ConnectMember
}

/** Those that run in clusters of this role, given what the process offers. */
const runningModules = ({ role, modules, standingBack = [], connectMember }: RunModulesOptions): readonly Module[] =>
  modules.filter(
    ({ name, roles, needsMembers }) =>
      roles.includes(role) && !standingBack.includes(name) && (connectMember !== undefined || needsMembers !== true),
  )

export const propagatableBy = (modules: readonly Module[]) =>
  createPropagatable({ neverTravel: modules.flatMap(({ neverTravel = [] }) => neverTravel) })

export function runModules(options: RunModulesOptions): RunningControllers {
  const { role, authority, signToken, postJson, getText, registry } = options
  const modules = runningModules(options)
  // Nobody connects to members for the sake of it.
  const connect = modules.some(({ needsMembers }) => needsMembers) ? options.connectMember : undefined
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
      const members = connect === undefined ? undefined : followMembers({ caches, connect, keepsManager, clock, random })
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
        getText,
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
