/** Names that nothing in a pod has, or refers to: what is injected is never reached by a mount that was written for it. Pure. */
import type { Pod } from '../../kinds/kubernetes/types.ts'

export interface FreeNames {
  /** The first of `<name>`, `<name>-1`, … that is free; taken from now on. */
  volume(name: string): string
  /** The first index from `from` on for which none of these names is that of a container. */
  index(from: number, names: (i: number) => readonly string[]): number
}

const LONGEST_NAME = 63

export function freeNames({ spec = {} }: Pod): FreeNames {
  const all = [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
  const containers = new Set(all.map(({ name }) => name))
  const volumes = new Set([
    ...(spec.volumes ?? []).map(({ name }) => name),
    ...all.flatMap(({ volumeMounts = [], volumeDevices = [] }) => [...volumeMounts, ...volumeDevices].map(({ name }) => name)),
  ])
  return {
    volume(name) {
      for (let attempt = 0; ; attempt++) {
        const suffix = attempt === 0 ? '' : `-${attempt}`
        const free = `${name.slice(0, LONGEST_NAME - suffix.length)}${suffix}`
        if (volumes.has(free)) continue
        volumes.add(free)
        return free
      }
    },
    index(from, names) {
      let i = from
      while (names(i).some((name) => containers.has(name))) i++
      return i
    },
  }
}
