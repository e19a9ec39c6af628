/**
 * A node and what is on it, updated incrementally, never recounted. Costs about 2 KiB per node and one
 * map entry per pod on it; adding or removing a pod costs what the pod itself holds.
 */
import type { Node, Taint } from '../../../kinds/kubernetes/types.ts'
import { type Amounts, amountOf, amountsOf } from '../../../kube/amounts.ts'
import type { Labels } from '../../../kube/selector.ts'
import type { HostPort, PodInfo } from './pod-info.ts'
import { addAmounts } from './requests.ts'

const ANY_ADDRESS = '0.0.0.0'
const PODS = 'pods'

export class NodeState {
  readonly name: string
  /** Undefined while pods are bound to a node that does not exist. */
  node: Node | undefined
  labels: Labels
  taints: readonly Taint[] = []
  isUnschedulable = false
  allocatable: Amounts = new Map()
  allowedPods = 0
  readonly requested: Amounts = new Map()
  comparedCpu = 0
  comparedMemory = 0
  readonly pods = new Map<string, PodInfo>()
  /** Pods that will come here when others have gone; they are not counted. */
  readonly nominated = new Map<string, PodInfo>()
  /** Grows with every change of the node or of what is on it. */
  version = 0
  readonly #ports = new Map<string, Map<string, number>>()

  constructor(name: string) {
    this.name = name
  }

  set(node: Node | undefined): void {
    this.node = node
    this.labels = node?.metadata.labels
    this.taints = node?.spec?.taints ?? []
    this.isUnschedulable = node?.spec?.unschedulable === true
    this.allocatable = amountsOf(node?.status?.allocatable)
    this.allowedPods = amountOf(PODS, node?.status?.allocatable?.[PODS])
  }

  add(info: PodInfo): void {
    this.pods.set(info.key, info)
    this.#count(info, 1)
  }

  remove(key: string): void {
    const info = this.pods.get(key)
    if (info === undefined) return
    this.pods.delete(key)
    this.#count(info, -1)
  }

  hasPort({ protocol, ip, port }: HostPort): boolean {
    const taken = this.#ports.get(`${protocol}/${port}`)
    if (taken === undefined) return false
    return ip === ANY_ADDRESS || taken.has(ip) || taken.has(ANY_ADDRESS)
  }

  label(key: string): string | undefined {
    return this.labels !== undefined && Object.hasOwn(this.labels, key) ? this.labels[key] : undefined
  }

  /** For what-if changes; the pods themselves are shared. */
  copy(): NodeState {
    const copy = new NodeState(this.name)
    copy.node = this.node
    copy.labels = this.labels
    copy.taints = this.taints
    copy.isUnschedulable = this.isUnschedulable
    copy.allocatable = this.allocatable
    copy.allowedPods = this.allowedPods
    copy.version = this.version
    for (const info of this.pods.values()) copy.add(info)
    for (const [key, info] of this.nominated) copy.nominated.set(key, info)
    return copy
  }

  #count(info: PodInfo, sign: 1 | -1): void {
    addAmounts(this.requested, info.requests, sign)
    this.comparedCpu += sign * info.compared.cpu
    this.comparedMemory += sign * info.compared.memory
    for (const { protocol, ip, port } of info.ports) {
      const name = `${protocol}/${port}`
      const taken = this.#ports.get(name) ?? new Map<string, number>()
      const users = (taken.get(ip) ?? 0) + sign
      if (users > 0) taken.set(ip, users)
      else taken.delete(ip)
      if (taken.size > 0) this.#ports.set(name, taken)
      else this.#ports.delete(name)
    }
  }
}
