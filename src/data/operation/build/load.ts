/** What a DataLoad runs: the program of the engine, told the paths and how many copies of each. Pure. */
import type { DataLoad } from '../../../kinds/fluid/index.ts'
import { programJob, programPod } from './program.ts'
import type { BuildInput, OperationProgram, Work } from './workload.ts'

/** Paths are separated by colons on the wire, so one that contains a colon cannot be said. */
export function loadProblem({ spec }: DataLoad): string | undefined {
  const path = (spec?.target ?? []).map((target) => target.path).find((one) => one.includes(':'))
  return path === undefined ? undefined : `the path ${path} contains ":", which separates paths: load the directory that it is in`
}

export function loadWork(input: BuildInput, program: OperationProgram): Work {
  const { target = [], loadMetadata = false, options = {} } = (input.operation as DataLoad).spec ?? {}
  const all = target.length === 0 ? [{ path: '/', replicas: 1 }] : target
  const env = [
    { name: 'FLUID_DATALOAD_METADATA', value: String(loadMetadata) },
    { name: 'FLUID_DATALOAD_DATA_PATH', value: all.map(({ path }) => path).join(':') },
    { name: 'FLUID_DATALOAD_PATH_REPLICAS', value: all.map(({ replicas }) => String(Math.max(1, replicas ?? 1))).join(':') },
    ...(options.bandwidth === undefined ? [] : [{ name: 'SLUICE_LOAD_BANDWIDTH', value: options.bandwidth }]),
    ...(options.concurrency === undefined ? [] : [{ name: 'SLUICE_LOAD_CONCURRENCY', value: options.concurrency }]),
  ]
  return { ...programJob(program), podSpec: programPod(input, program, { container: 'dataloader', env }) }
}
