/**
 * The volumes of CSI drivers on the process nodes of a member: calls the drivers, each step once at a time, and records every
 * step on disk before and after. What is known here is what the records say, and what is going on right now.
 */
import type { Clock } from '../../../base/clock.ts'
import { messageOf } from '../../../base/error-text.ts'
import type { Client } from '../../../client/client.ts'
import { ifFound } from '../../../client/errors.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { isAbsoluteClean, isNodePath, pathOnMachine } from '../../../kube/node-path.ts'
import { keyOfResource, type Resource } from '../../../kube/resource.ts'
import type {
  CsiContext,
  CsiDriver,
  CsiFiles,
  CsiPodContext,
  CsiVolume,
  Published,
  PublishedMount,
} from '../../../runtime/seams/csi-driver.ts'
import type { ContainerMachine } from '../container-machine.ts'
import type { ReadyVolume } from '../run-spec.ts'
import { isClean } from '../volumes/payload.ts'
import { directoryOf } from './directory-of.ts'
import { createJobs, type Jobs } from './jobs.ts'
import { createProgress, type Progress } from './progress.ts'
import { createRecords, keyOfUse, keyOfVolume, type Records, type UseRecord } from './records.ts'

/** A volume on a node. */
export interface NodeVolume {
  readonly node: string
  readonly volume: CsiVolume
  readonly isStaged: boolean
  /** Something of it may be on the node. */
  readonly isRecorded: boolean
  readonly uses: ReadonlyMap<string, UseRecord>
  /** Counts effects that have looked after it: each needs a key of its own. */
  readonly attempt: number
  /** Why the last attempt to stage it failed. */
  readonly failure: string | undefined
  /** What its driver says about staging it. */
  readonly message: string | undefined
}

interface Known extends NodeVolume {
  isStaged: boolean
  isRecorded: boolean
  isWanted: boolean
  uses: Map<string, UseRecord>
  attempt: number
  failure: string | undefined
  progress: Progress
  publishing: Map<string, { attempt: number; progress: Progress }>
  /** Pods that wait for it. */
  waiting: Set<string>
}

export interface Call {
  client: Client
  signal: AbortSignal
}

type Listener = (change: { node: string; pods: readonly string[] }) => void

export interface NodeVolumesOptions {
  machine: ContainerMachine
  clock: Clock
  nodes(): readonly string[]
  drivers: readonly CsiDriver[]
  /** Where the volumes of our own provisioner are. */
  volumesRoot?: string
}

export class NodeVolumes {
  readonly drivers: ReadonlyMap<string, CsiDriver>
  readonly #options: NodeVolumesOptions
  readonly #records: Records
  readonly #jobs: Jobs
  readonly #known = new Map<string, Known>()
  readonly #listeners = new Set<Listener>()
  #loading: Promise<void> | undefined
  /** Never the same twice: effects remember the keys that they have had. */
  #serial = 0

  constructor(options: NodeVolumesOptions) {
    this.#options = options
    this.drivers = new Map(options.drivers.map((driver) => [driver.name, driver]))
    this.#records = createRecords(() => options.machine)
    this.#jobs = createJobs(options.clock)
  }

  hasDriver = (name: string): boolean => this.drivers.has(name)

  /** Reads what an earlier process has left, once. */
  load(): Promise<void> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** From now on these volumes are wanted on a node, and no others. */
  want(node: string, volumes: readonly CsiVolume[]): void {
    const keys = new Set(volumes.map(keyOfVolume))
    for (const volume of volumes) this.#know(node, volume)
    for (const known of this.on(node) as Known[]) {
      known.isWanted = keys.has(keyOfVolume(known.volume))
      this.#forgetUnused(known)
    }
  }

  /** Volumes of registered drivers on a node. */
  on(node: string): NodeVolume[] {
    return [...this.#known.values()].filter((known) => known.node === node && this.drivers.has(known.volume.driver))
  }

  /** Nodes on which something is published for a pod. */
  nodesOf(podUid: string): string[] {
    const isUsedBy = ({ uses }: Known): boolean => [...uses.values()].some(({ pod }) => pod.uid === podUid)
    return [...this.#known.values()].filter(isUsedBy).map(({ node }) => node)
  }

  /** What is known of a volume; the pod is told about changes from now on. */
  lookFor(node: string, volume: CsiVolume, podUid: string): NodeVolume | undefined {
    const known = this.#known.get(idOf(node, volume))
    known?.waiting.add(podUid)
    return known
  }

  /** What is published for a volume of a pod. */
  published(node: string, volume: CsiVolume, use: { podUid: string; name: string }): ReadyVolume | undefined {
    const record = this.#known.get(idOf(node, volume))?.uses.get(keyOfUse(use.podUid, use.name))
    if (record?.published === undefined) return undefined
    const { path, readOnly, mounts } = record.published
    return {
      path,
      readOnly: record.readOnly || readOnly === true,
      ...(mounts === undefined
        ? {}
        : { mounts: mounts.map((mount) => ({ ...mount, readOnly: record.readOnly || mount.readOnly === true })) }),
    }
  }

  /** How the publishing goes. */
  publishing(node: string, volume: CsiVolume, use: { podUid: string; name: string }): { attempt: number; message: string | undefined } {
    const going = this.#known.get(idOf(node, volume))?.publishing.get(keyOfUse(use.podUid, use.name))
    return { attempt: going?.attempt ?? 0, message: going?.progress.message }
  }

  forget(podUid: string): void {
    for (const known of this.#known.values()) known.waiting.delete(podUid)
  }

  async stage({ node, volume }: Pick<NodeVolume, 'node' | 'volume'>, call: Call): Promise<void> {
    const known = this.#know(node, volume)
    const id = idOf(node, volume)
    const hasEnded = await this.#jobs.join(`stage ${id}`, call.signal, async (signal) => {
      await this.#jobs.settled(`unstage ${id}`)
      // A call that comes late finds it done, or not wanted any more.
      if (known.isStaged || !known.isWanted) return
      await this.#records.writeVolume(node, { volume, isStaged: false })
      known.isRecorded = true
      try {
        await this.#driverOf(volume).stage(this.#contextOf(known, known.progress, { ...call, signal }))
      } catch (error) {
        if (!known.isWanted) return
        known.failure = messageOf(error)
        this.#changed(known)
        throw error
      } finally {
        known.progress.clear()
      }
      await this.#records.writeVolume(node, { volume, isStaged: true })
      known.isStaged = true
      known.failure = undefined
      this.#changed(known)
    })
    if (!hasEnded || !known.isStaged) known.attempt = ++this.#serial
  }

  async unstage({ node, volume }: Pick<NodeVolume, 'node' | 'volume'>, call: Call): Promise<void> {
    const id = idOf(node, volume)
    const known = this.#known.get(id)
    if (known === undefined) return
    await this.#jobs.join(`unstage ${id}`, call.signal, async (signal) => {
      if (known.isWanted || known.uses.size > 0) return
      await this.#jobs.end(`stage ${id}`)
      if (known.isWanted || known.uses.size > 0 || !known.isRecorded) return
      known.isStaged = false
      await this.#records.writeVolume(node, { volume, isStaged: false })
      await this.#driverOf(volume).unstage(this.#contextOf(known, known.progress, { ...call, signal }))
      await this.#records.removeVolume(node, volume)
      known.isRecorded = false
      known.failure = undefined
      this.#changed(known)
      this.#forgetUnused(known)
    })
    known.attempt = ++this.#serial
  }

  async publish(node: string, volume: CsiVolume, { use, ...call }: Call & { use: UseRecord }): Promise<void> {
    const known = this.#know(node, volume)
    const key = keyOfUse(use.pod.uid, use.name)
    const id = `${idOf(node, volume)} ${key}`
    const going = known.publishing.get(key) ?? { attempt: 0, progress: this.#progressOf(known) }
    known.publishing.set(key, going)
    const hasEnded = await this.#jobs.join(`publish ${id}`, call.signal, async (signal) => {
      await this.#jobs.settled(`unpublish ${id}`)
      if (known.uses.get(key)?.published !== undefined) return
      if (!known.isStaged) throw new Error(`volume ${volume.name} is not staged on node ${node}`)
      known.uses.set(key, use)
      await this.#records.writeUse(node, volume, use)
      const context = this.#contextOf(known, going.progress, { ...call, signal })
      try {
        const published = await this.#driverOf(volume).publish(this.#podContextOf(context, use, call.client))
        const complete = { ...use, published: await this.#onMachine(node, published) }
        await this.#records.writeUse(node, volume, complete)
        known.uses.set(key, complete)
      } finally {
        going.progress.clear()
        this.#changed(known)
      }
    })
    if (!hasEnded) going.attempt++
  }

  async unpublish(node: string, volume: CsiVolume, { use, ...call }: Call & { use: UseRecord }): Promise<void> {
    const known = this.#known.get(idOf(node, volume))
    const key = keyOfUse(use.pod.uid, use.name)
    const id = `${idOf(node, volume)} ${key}`
    if (known === undefined) return
    await this.#jobs.join(`unpublish ${id}`, call.signal, async (signal) => {
      await this.#jobs.end(`publish ${id}`)
      const current = known.uses.get(key)
      if (current === undefined) return
      const context = this.#contextOf(known, this.#progressOf(known), { ...call, signal })
      await this.#driverOf(volume).unpublish(this.#podContextOf(context, current, call.client))
      await this.#records.removeUse(node, volume, current)
      known.uses.delete(key)
      known.publishing.delete(key)
      this.#changed(known)
    })
  }

  async #load(): Promise<void> {
    for (const node of this.#options.nodes())
      for (const { volume, isStaged, uses } of await this.#records.find(node)) {
        const known = this.#know(node, volume)
        known.isRecorded = true
        known.isStaged = isStaged
        for (const use of uses) known.uses.set(keyOfUse(use.pod.uid, use.name), use)
      }
  }

  #know(node: string, volume: CsiVolume): Known {
    const id = idOf(node, volume)
    const old = this.#known.get(id)
    if (old !== undefined) return old
    const progress = createProgress(this.#options.clock, () => this.#changed(known))
    const known: Known = {
      ...{ node, volume, isStaged: false, isRecorded: false, isWanted: false, attempt: ++this.#serial, failure: undefined, progress },
      ...{ uses: new Map(), publishing: new Map(), waiting: new Set() },
      get message() {
        return progress.message
      },
    }
    this.#known.set(id, known)
    return known
  }

  #forgetUnused(known: Known): void {
    if (!known.isRecorded && !known.isWanted && known.uses.size === 0 && known.waiting.size === 0)
      this.#known.delete(idOf(known.node, known.volume))
  }

  #progressOf = (known: Known): Progress => createProgress(this.#options.clock, () => this.#changed(known))

  #changed(known: Known): void {
    for (const listener of this.#listeners) listener({ node: known.node, pods: [...known.waiting] })
  }

  #driverOf({ driver }: CsiVolume): CsiDriver {
    const found = this.drivers.get(driver)
    if (found === undefined) throw new Error(`driver name ${driver} not found in the list of registered CSI drivers`)
    return found
  }

  #contextOf({ node, volume }: Known, progress: Progress, { client, signal }: Call): CsiContext {
    const { machine, clock } = this.#options
    const readable = new Set((this.#driverOf(volume).reads ?? []).map(keyOfResource))
    const nodeDirectory = machine.nodeDirectory(node)
    return {
      ...{ node, nodeDirectory, volume, signal, clock },
      files: filesOf(machine, nodeDirectory),
      progress: (message) => progress.say(message),
      async get<T extends KubeObject>(resource: Resource<T>, namespace: string, name: string): Promise<T | undefined> {
        if (!readable.has(keyOfResource(resource)))
          throw new Error(`driver ${volume.driver} reads ${resource.plural} without declaring it: add it to its \`reads\``)
        return ifFound(client.get<T>(resource, { namespace: resource.namespaced ? namespace : undefined, name }))
      },
    }
  }

  #podContextOf(context: CsiContext, { pod, readOnly }: UseRecord, client: Client): CsiPodContext {
    const { machine, volumesRoot } = this.#options
    const { nodeDirectory } = context
    return {
      ...{ ...context, pod, readOnly },
      directoryOf: (source, subPath) => directoryOf({ source, subPath }, { machine, nodeDirectory, volumesRoot, client }),
    }
  }

  async #onMachine(node: string, { path, readOnly, mounts }: Published): Promise<Published> {
    const { machine } = this.#options
    const nodeDirectory = machine.nodeDirectory(node)
    const onMachine = async (at: string): Promise<string> => {
      if (!isAbsoluteClean(at)) throw new Error(`${JSON.stringify(at)} cannot be mounted: it is not an absolute path without ".."`)
      const there = pathOnMachine(at, nodeDirectory)
      // What pods write there may hold links: none may lead out.
      if (isNodePath(at)) await machine.inside(nodeDirectory, there.slice(nodeDirectory.length))
      return there
    }
    const inside: PublishedMount[] = []
    for (const mount of mounts ?? []) {
      if (!isClean(mount.path)) throw new Error(`nothing can be mounted at ${JSON.stringify(mount.path)} of a volume`)
      inside.push({ ...mount, source: await onMachine(mount.source) })
    }
    return { path: await onMachine(path), readOnly, ...(mounts === undefined ? {} : { mounts: inside }) }
  }
}

const idOf = (node: string, volume: CsiVolume): string => `${node}/${keyOfVolume(volume)}`

function filesOf(machine: ContainerMachine, nodeDirectory: string): CsiFiles {
  // Programs of pods write below it as well: what they put in the way must not lead a driver elsewhere.
  const below = machine.filesBelow(nodeDirectory)
  const checked = (path: string): string => {
    if (!isAbsoluteClean(path)) throw new Error(`${JSON.stringify(path)} is not an absolute path without ".."`)
    return path
  }
  const own = (path: string): string => {
    if (!isAbsoluteClean(path) || !isNodePath(path))
      throw new Error(`a driver may not write to ${JSON.stringify(path)}: it is not the node's own`)
    return path
  }
  return {
    kindOf: async (path) => (isNodePath(checked(path)) ? below.kindOf(path) : machine.kindOf(path)),
    async read(path, limitBytes) {
      const bytes = await (isNodePath(checked(path)) ? below.read(path, limitBytes) : machine.readFile(path, limitBytes))
      return bytes === undefined ? undefined : Buffer.from(bytes).toString()
    },
    write: async (path, text) => below.write(own(path), text),
    makeDirectory: async (path) => below.makeDirectory(own(path)),
    remove: async (path) => below.remove(own(path)),
    namesIn: async (path) => (isNodePath(checked(path)) ? below.namesIn(path) : machine.namesIn(path)),
  }
}
