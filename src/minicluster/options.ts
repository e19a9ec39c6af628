/** What can be set about a member that runs here, and the flags that set it. */

import { parse } from 'yaml'
import { messageOf } from '../base/error-text.ts'
import { parsed, unparsed } from '../kube/parsed.ts'
import type { Flag } from '../runtime/module/flags.ts'
import type { RunPlacementOptions } from './admission/run-placement.ts'
import type { KubeletOptions } from './kubelet/index.ts'
import { DEFAULT_NODES, NODE_FLAGS, type NodeSettings } from './node-settings.ts'
import { parseStages, type Stage } from './nodes/simulated/stages.ts'
import { type MemberShape, SIMULATED_NODE_SIZE } from './shape.ts'
import type { LocalVolumes } from './storage/local/volume.ts'

export interface MiniclusterOptions {
  /** Of every member of `up`; kept in the data directory. */
  nodes: NodeSettings
  /** Local root directories by image. */
  images: ReadonlyMap<string, string>
  shape: MemberShape
  /** The life of simulated pods (default: they start, run, and succeed if they are meant to end). */
  stages?: readonly Stage[]
  /** How admission decides where a pod runs. */
  run: RunPlacementOptions
  /** Finished pods that are kept (default 12,500; 0: all of them). */
  terminatedPodThreshold?: number
  /** Where volumes of the class `local` are (default: nowhere, and their paths are only names). */
  volumes?: LocalVolumes
  /** What runs the pods of process nodes (default: nothing, and there are none). */
  kubelet?: KubeletOptions
}

const NO_NODES = { count: 0, size: SIMULATED_NODE_SIZE }

/** Without a machine underneath, every pod is simulated. */
const SIMULATED_ONLY: RunPlacementOptions = Object.freeze({
  hasProcessNodes: false,
  isMapped: () => false,
  resolves: () => false,
})

/** A cluster that is not ours brings its own nodes. */
export const DEFAULT_OPTIONS: MiniclusterOptions = Object.freeze({
  nodes: DEFAULT_NODES,
  images: new Map<string, string>(),
  shape: { index: 1, name: 'sluice', region: 'east', zones: ['east-a', 'east-b'], simulated: NO_NODES, process: NO_NODES },
  run: SIMULATED_ONLY,
})

export const MINICLUSTER_FLAGS: readonly Flag<MiniclusterOptions>[] = [
  ...NODE_FLAGS.map(
    (flag): Flag<MiniclusterOptions> => ({
      ...flag,
      on: ['up'],
      async read(text, options, files) {
        const nodes = await flag.read(text, options.nodes, files)
        return nodes.error !== undefined ? nodes : parsed({ ...options, nodes: nodes.value })
      },
    }),
  ),
  {
    flag: '--image <name=dir>',
    about: 'pods of this image run on the files of a local directory; may be repeated',
    on: ['up'],
    isRepeatable: true,
    async read(text, options, files) {
      const at = text.lastIndexOf('=')
      const [image, directory] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)]
      if (image === '' || directory === '') return unparsed(`--image takes NAME=DIRECTORY, not ${JSON.stringify(text)}`)
      const root = files.resolve(directory)
      if (!(await files.exists(root))) return unparsed(`--image ${image}: there is no directory ${root}`)
      return parsed({ ...options, images: new Map([...options.images, [image, root]]) })
    },
  },
  {
    flag: '--stages <file>',
    about: 'YAML or JSON: how simulated pods live, instead of the built-in table',
    on: ['up'],
    async read(file, options, files) {
      const path = files.resolve(file)
      const text = await files.read(path)
      if (text === undefined) return unparsed(`--stages: there is no file ${path}`)
      try {
        return parsed({ ...options, stages: parseStages(parse(text)) })
      } catch (error) {
        return unparsed(`--stages ${file}: ${messageOf(error)}`)
      }
    },
  },
  {
    flag: '--nodes <n>',
    about: 'simulated nodes to bring to a member (default 0)',
    on: ['controllers'],
    read(text, options) {
      if (!/^\d{1,5}$/.test(text)) return unparsed(`--nodes takes a whole number, not ${JSON.stringify(text)}`)
      return parsed({ ...options, shape: { ...options.shape, simulated: { ...NO_NODES, count: Number(text) } } })
    },
  },
]

/** With a process node, so that its controllers are declared. */
export const DECLARED_OPTIONS: MiniclusterOptions = Object.freeze({
  ...DEFAULT_OPTIONS,
  shape: { ...DEFAULT_OPTIONS.shape, process: { ...NO_NODES, count: 1 } },
})
