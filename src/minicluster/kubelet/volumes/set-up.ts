/** Sets up a planned volume on this machine. Rejects with a user-facing message when that is not possible. */

import type { VolumePlan } from '../../../runtime/seams/volume-driver.ts'
import type { ContainerMachine } from '../container-machine.ts'
import type { Kept } from '../node-data/records.ts'
import type { ReadyVolume } from '../run-spec.ts'
import { isClean } from './payload.ts'

export interface SetUp {
  podUid: string
  name: string
  plan: Exclude<VolumePlan, { kind: 'waiting' | 'csi' }>
  /** What the pod keeps in it after its end. */
  kept?: readonly Omit<Kept, 'pods'>[]
}

/** What identifies this set-up. */
export function keyOfSetUp({ podUid, name, plan }: SetUp): string {
  if (plan.kind === 'memory') return `${podUid}/${name}/memory/${plan.sizeBytes ?? ''}`
  const what = plan.kind === 'files' ? plan.version : plan.kind === 'path' ? `${plan.type} ${plan.path}` : ''
  return `${podUid}/${name}/${plan.kind}/${what}`
}

export async function setUpVolume(machine: ContainerMachine, { podUid, name, plan }: SetUp): Promise<ReadyVolume> {
  if (plan.kind === 'path') {
    await checkPath(machine, plan)
    return { path: plan.path, readOnly: plan.readOnly }
  }
  if (plan.kind === 'memory') return { ...(await machine.memory(podUid, name, plan.sizeBytes)), readOnly: false }
  const path = await machine.directory(podUid, 'volumes', name)
  if (plan.kind === 'directory') return { path, readOnly: false }
  const files = plan.files()
  const unclean = files.find((file) => !isClean(file.path))
  if (unclean !== undefined) throw new Error(`file "${unclean.path}" would not be inside the volume`)
  await machine.writeFiles(path, files)
  return { path, readOnly: true }
}

const MADE_AS_DIRECTORY = ['', 'DirectoryOrCreate']

async function checkPath(machine: ContainerMachine, { path, type, within }: Extract<VolumePlan, { kind: 'path' }>): Promise<void> {
  if (type === '' && within === undefined) return
  const kind = await machine.kindOf(path)
  if (within !== undefined) {
    await machine.makeDirectory(within)
    const isMadeNow = kind === undefined && MADE_AS_DIRECTORY.includes(type)
    // Also where it is there: a link on the way must not lead out.
    await machine.inside(within, (isMadeNow || kind === 'directory' ? path : path.slice(0, path.lastIndexOf('/'))).slice(within.length))
    if (isMadeNow || type === '') return
  }
  const wrong = (what: string): Error => new Error(`hostPath type check failed: ${path} is not ${what}`)
  switch (type) {
    case 'DirectoryOrCreate':
      if (kind === undefined) return machine.makeDirectory(path)
      if (kind !== 'directory') throw wrong('a directory')
      return
    case 'Directory':
      if (kind !== 'directory') throw wrong('a directory')
      return
    case 'FileOrCreate':
      if (kind === undefined) return machine.makeFile(path)
      if (kind !== 'file') throw wrong('a file')
      return
    case 'File':
      if (kind !== 'file') throw wrong('a file')
      return
    case 'Socket':
      if (kind !== 'socket') throw wrong('a socket file')
      return
    default:
      // The machine does not distinguish device types; anything of kind `other` may be one.
      if (kind !== 'other') throw wrong(type === 'CharDevice' ? 'a character device' : 'a block device')
  }
}
