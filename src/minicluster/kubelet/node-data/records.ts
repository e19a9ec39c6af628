/**
 * What nodes have given to pods to keep, in the directory of each node, so that a restart of Sluice finds it again:
 * `kept/<key>.json`. A record is written before a pod is given the directory, and removed after the directory is.
 */
import { createHash } from 'node:crypto'
import { isJsonObject } from '../../../base/json.ts'
import { keyOfRef, type ObjectRef } from '../../../kube/object-reference.ts'
import type { ContainerMachine } from '../container-machine.ts'

export interface Kept {
  node: string
  /** As pods of the node would name it. */
  path: string
  owner: ObjectRef
  /** UIDs of the pods that were given it and have something on the machine. */
  pods: readonly string[]
}

export class KeptRecords {
  readonly #machine: ContainerMachine
  readonly #nodes: readonly string[]
  readonly #byNode = new Map<string, Map<string, Kept>>()
  #loading: Promise<void> | undefined

  constructor(machine: ContainerMachine, nodes: readonly string[]) {
    this.#machine = machine
    this.#nodes = nodes
  }

  /** Reads what an earlier process has left, once. */
  async load(): Promise<void> {
    this.#loading ??= this.#find()
    try {
      await this.#loading
    } catch (error) {
      this.#loading = undefined
      throw error
    }
  }

  on(node: string): Kept[] {
    return [...(this.#byNode.get(node)?.values() ?? [])]
  }

  /** Nodes on which something is kept for the owner. */
  nodesOf(owner: ObjectRef): string[] {
    return this.#nodes.filter((node) => this.on(node).some((kept) => keyOfRef(kept.owner) === keyOfRef(owner)))
  }

  /** Nodes on which something was given to the pod. */
  nodesOfPod(uid: string): string[] {
    return this.#nodes.filter((node) => this.on(node).some(({ pods }) => pods.includes(uid)))
  }

  async keep({ podUid, ...directory }: Omit<Kept, 'pods'> & { podUid: string }): Promise<void> {
    await this.load()
    const old = this.#byNode.get(directory.node)?.get(keyOf(directory))
    if (old?.pods.includes(podUid) === true) return
    const here = new Set(this.#machine.pods())
    const kept = { ...directory, pods: [...(old?.pods ?? []).filter((uid) => here.has(uid)), podUid] }
    await this.#machine.writeFile(this.#fileOf(kept), JSON.stringify(kept))
    this.#remember(kept)
  }

  /** Nothing has changed since. */
  isCurrent(kept: Kept): boolean {
    return this.#byNode.get(kept.node)?.get(keyOf(kept)) === kept
  }

  async drop(kept: Kept): Promise<void> {
    await this.#machine.removePath(this.#fileOf(kept))
    this.#byNode.get(kept.node)?.delete(keyOf(kept))
  }

  async #find(): Promise<void> {
    for (const node of this.#nodes)
      for (const name of await this.#machine.namesIn(this.#top(node))) {
        const found = keptIn(await this.#machine.readFile(`${this.#top(node)}/${name}`, MAX_BYTES))
        if (found !== undefined && found.node === node && name === `${keyOf(found)}.json`) this.#remember(found)
      }
  }

  #remember(kept: Kept): void {
    const own = this.#byNode.get(kept.node) ?? new Map<string, Kept>()
    this.#byNode.set(kept.node, own.set(keyOf(kept), kept))
  }

  #top = (node: string): string => `${this.#machine.nodeDirectory(node)}/kept`
  #fileOf = (kept: Kept): string => `${this.#top(kept.node)}/${keyOf(kept)}.json`
}

const MAX_BYTES = 64 * 1024

/** Short enough for the name of a file. */
const keyOf = ({ path, owner }: Pick<Kept, 'path' | 'owner'>): string =>
  createHash('sha256')
    .update(JSON.stringify([path, owner.namespace, owner.name]))
    .digest('hex')
    .slice(0, 32)

/** Undefined: it is none, or only a part of one. */
function keptIn(bytes: Uint8Array | undefined): Kept | undefined {
  if (bytes === undefined) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString())
    return isKept(value) ? value : undefined
  } catch {
    return undefined
  }
}

const areTexts = (...values: readonly unknown[]): boolean => values.every((value) => typeof value === 'string')

const isKept = (value: unknown): value is Kept =>
  isJsonObject(value) &&
  areTexts(value.node, value.path) &&
  isJsonObject(value.owner) &&
  areTexts(value.owner.namespace, value.owner.name) &&
  Array.isArray(value.pods) &&
  areTexts(...value.pods)
