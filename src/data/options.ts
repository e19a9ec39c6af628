/** The options of the data module, and the flags that set them. */
import type { HostPathPrefixes } from '../kinds/fluid/admission/index.ts'
import { isAbsoluteClean } from '../kube/node-path.ts'
import { parsed, unparsed } from '../kube/parsed.ts'
import type { Flag, FlagCommand } from '../runtime/module/flags.ts'
import { CONSENT_DEFAULTS, type ConsentOptions, consentFlag } from '../runtime/reference-consent.ts'
import { SIDECAR_MODES, type SidecarMode } from './sidecar/mode.ts'

export interface DataOptions extends ConsentOptions {
  /** Directories of nodes that datasets and runtimes may name: those below the prefixes, or all. */
  hostPathPrefixes?: HostPathPrefixes
  /** Whether the builtin cache serves AlluxioRuntimes and the like. */
  translates?: boolean
  /** Whether the builtin cache reads sources at loopback and private addresses, which tenants name. */
  allowsPrivateAddresses?: boolean
  /** In which form clients of datasets are part of pods that ask for them. */
  sidecarMode?: SidecarMode
}

/**
 * In a cluster of one's own every directory is one's own anyway. On Kubernetes a directory of a node is the administrator's, and
 * runtimes of other engines keep the workloads that they ask for.
 */
export const DATA_DEFAULTS: Readonly<Record<FlagCommand, Readonly<Required<DataOptions>>>> = {
  up: { hostPathPrefixes: 'all', translates: true, allowsPrivateAddresses: true, sidecarMode: 'native-sidecar', ...CONSENT_DEFAULTS.up },
  controllers: {
    ...{ hostPathPrefixes: [], translates: false, allowsPrivateAddresses: false, sidecarMode: 'native-sidecar' },
    ...CONSENT_DEFAULTS.controllers,
  },
}

const PREFIX_FLAG = '--dataset-host-path'
const PRIVATE_FLAG = '--dataset-private-addresses'
const SIDECAR_FLAG = '--dataset-sidecar'
const OLD_SIDECAR: SidecarMode = 'container'
/** Fluid's, and what it calls the old form. */
const SIDECAR_VARIABLE = 'FUSE_SIDECAR_INJECTION_MODE'
const FLUIDS_OLD_SIDECAR = 'sidecar'

export const DATA_FLAGS: readonly Flag<DataOptions>[] = [
  // The gate has it as well, on the hub.
  consentFlag(),
  {
    flag: `${PREFIX_FLAG} <dir>`,
    about:
      'datasets and runtimes may name directories of nodes below this one; all and none are words for it (default all; none for controllers)',
    isRepeatable: true,
    read(text, options) {
      if (text === 'all') return parsed({ ...options, hostPathPrefixes: 'all' })
      if (text === 'none') return parsed({ ...options, hostPathPrefixes: [] })
      if (!isAbsoluteClean(text)) return unparsed(`${PREFIX_FLAG} takes an absolute directory, all or none, not ${JSON.stringify(text)}`)
      const { hostPathPrefixes: known = [] } = options
      return parsed({ ...options, hostPathPrefixes: known === 'all' ? [text] : [...known, text] })
    },
  },
  {
    flag: `${PRIVATE_FLAG} <yes|no>`,
    about: 'whether the builtin cache reads sources at loopback and private addresses (default yes; no for controllers)',
    read(text, options) {
      if (text !== 'yes' && text !== 'no') return unparsed(`${PRIVATE_FLAG} takes yes or no, not ${JSON.stringify(text)}`)
      return parsed({ ...options, allowsPrivateAddresses: text === 'yes' })
    },
  },
  {
    flag: `${SIDECAR_FLAG} <${SIDECAR_MODES.join('|')}>`,
    about: `in which form the client of a dataset is part of a pod with the label serverless.fluid.io/inject; ${OLD_SIDECAR} is for Kubernetes before 1.29 (default: what ${SIDECAR_VARIABLE} says, or native-sidecar)`,
    variable: SIDECAR_VARIABLE,
    read(text, options) {
      const sidecarMode = text === FLUIDS_OLD_SIDECAR ? OLD_SIDECAR : SIDECAR_MODES.find((mode) => mode === text)
      if (sidecarMode === undefined)
        return unparsed(`${SIDECAR_FLAG} (or ${SIDECAR_VARIABLE}) takes ${SIDECAR_MODES.join(' or ')}, not ${JSON.stringify(text)}`)
      return parsed({ ...options, sidecarMode })
    },
  },
]
