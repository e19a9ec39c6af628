/**
 * runtime.json, which Fluid's contract puts into every pod of a runtime: mounts, access modes and the components with their
 * options and tiers. Tenants decide what is in it, so every field is checked here, once; what this returns can be used as it is.
 */

import { quantityValue, tryParseQuantity } from '../../kube/quantity.ts'
import { MIB } from '../protocol/block.ts'
import { ConfigError, countOf, type Fields, fieldsOf, flagOf, listOf, own, textMapOf, textOf, textsOf } from './fields.ts'
import { datasetPath } from './paths.ts'

export interface MountConfig {
  name: string
  mountPoint: string
  /** In the dataset. */
  path: string
  isReadOnly: boolean
  isShared: boolean
  options: ReadonlyMap<string, string>
  /** Option → file that holds its value. */
  encryptOptions: ReadonlyMap<string, string>
}

export interface TierConfig {
  medium: 'MEM' | 'SSD' | 'HDD'
  paths: readonly { directory: string; quotaBytes: number }[]
  high?: number
  low?: number
}

export interface ComponentConfig {
  isEnabled: boolean
  name: string
  options: ReadonlyMap<string, string>
  replicas: number
  serviceName: string
  tiers: readonly TierConfig[]
}

export interface RuntimeConfig {
  mounts: readonly MountConfig[]
  accessModes: readonly string[]
  targetPath: string
  master: ComponentConfig
  worker: ComponentConfig
  client: ComponentConfig
}

const LARGEST_FILE = 4 * MIB
const MOST_MOUNTS = 256
const MOST_REPLICAS = 10_000
const MOST_TIERS = 16
const MOST_TIER_PATHS = 64
/** Fluid's engine calls a level that is a disk HDD, whichever it is. */
const MEDIA = new Set(['MEM', 'SSD', 'HDD'])
const ACCESS_MODES = new Set(['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'])
const DNS_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/

/** Throws ConfigError. */
export function parseRuntimeConfig(text: string): RuntimeConfig {
  if (text.length > LARGEST_FILE) throw new ConfigError(`runtime.json is longer than ${LARGEST_FILE} characters`)
  const root = fieldsOf(parseJson(text), 'runtime.json')
  const mounts = listOf(root, 'mounts', MOST_MOUNTS).map((mount, i) => mountOf(fieldsOf(mount, `mounts[${i}]`)))
  refuseTwice(mounts.map(({ path }) => path))
  const accessModes = textsOf(root, 'accessModes', ACCESS_MODES.size)
  for (const mode of accessModes)
    if (!ACCESS_MODES.has(mode)) throw new ConfigError(`accessModes: ${show(mode)} is none of ${[...ACCESS_MODES].join(', ')}`)
  return {
    mounts,
    accessModes,
    targetPath: textOf(root, 'targetPath') ?? '',
    master: componentOf(root, 'master'),
    worker: componentOf(root, 'worker'),
    client: componentOf(root, 'client'),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new ConfigError('runtime.json is not JSON')
    throw error
  }
}

function mountOf(fields: Fields): MountConfig {
  const name = textOf(fields, 'name', 253) ?? ''
  const mountPoint = textOf(fields, 'mountPoint') ?? ''
  if (mountPoint === '') throw new ConfigError(`${fields.where}.mountPoint is missing`)
  const given = textOf(fields, 'path') ?? ''
  const path = given === '' ? datasetPath(`/${name}`) : datasetPath(given)
  if (path === undefined || (given === '' && path === '/'))
    throw new ConfigError(`${fields.where}: a path that begins with / and has no empty, . or .. part is needed, or a name to take it from`)
  return {
    name: name === '' ? path : name,
    mountPoint,
    path,
    isReadOnly: flagOf(fields, 'readOnly'),
    isShared: flagOf(fields, 'shared'),
    options: textMapOf(fields, 'options'),
    encryptOptions: filesOf(fields),
  }
}

/** Whoever writes the options chooses what comes after the directory of the Secrets, and nothing else of this pod. */
export function filesOf(fields: Fields): ReadonlyMap<string, string> {
  const files = textMapOf(fields, 'encryptOptions')
  for (const [name, file] of files)
    if (!file.startsWith('/') || file.includes('\0') || file.split('/').some((part) => part === '..' || part === '.'))
      throw new ConfigError(
        `${fields.where}.encryptOptions[${JSON.stringify(name.slice(0, 100))}] must be an absolute path without . and ..`,
      )
  return files
}

function refuseTwice(paths: readonly string[]): void {
  const twice = paths.find((path, i) => paths.indexOf(path) !== i)
  if (twice !== undefined) throw new ConfigError(`two mounts have the path ${show(twice)}: give one of them another`)
}

function componentOf(root: Fields, part: string): ComponentConfig {
  const value = own(root, part)
  if (value === undefined) return { isEnabled: false, name: '', options: new Map(), replicas: 0, serviceName: '', tiers: [] }
  const fields = fieldsOf(value, part)
  const service = own(fields, 'service')
  return {
    isEnabled: flagOf(fields, 'enabled'),
    name: dnsName(fields, 'name'),
    options: textMapOf(fields, 'options'),
    replicas: countOf(fields, 'replicas', MOST_REPLICAS) ?? 0,
    serviceName: service === undefined ? '' : dnsName(fieldsOf(service, `${part}.service`), 'name'),
    tiers: listOf(fields, 'tieredStoreLevels', MOST_TIERS).map((tier, i) => tierOf(fieldsOf(tier, `${part}.tieredStoreLevels[${i}]`))),
  }
}

function dnsName(fields: Fields, name: string): string {
  const text = textOf(fields, name, 253) ?? ''
  if (text !== '' && !DNS_NAME.test(text)) throw new ConfigError(`${fields.where}.${name}: ${show(text)} is not a name of Kubernetes`)
  return text
}

function tierOf(fields: Fields): TierConfig {
  const medium = textOf(fields, 'mediumType', 16) ?? 'HDD'
  if (!MEDIA.has(medium)) throw new ConfigError(`${fields.where}.mediumType: ${show(medium)} is none of ${[...MEDIA].join(', ')}`)
  const directories = textsOf(fields, 'mountPaths', MOST_TIER_PATHS)
  const quotas = textsOf(fields, 'quotas', MOST_TIER_PATHS)
  if (directories.length === 0 || directories.length !== quotas.length)
    throw new ConfigError(`${fields.where}: mountPaths and quotas need the same number of entries, at least one`)
  return {
    medium: medium as TierConfig['medium'],
    paths: directories.map((directory, i) => {
      if (!directory.startsWith('/') || directory.split('/').includes('..'))
        throw new ConfigError(`${fields.where}.mountPaths[${i}] must be an absolute path without ..`)
      return { directory, quotaBytes: bytesOf(quotas[i] ?? '', `${fields.where}.quotas[${i}]`) }
    }),
    ...shares(textOf(fields, 'high', 32), textOf(fields, 'low', 32), fields.where),
  }
}

function bytesOf(text: string, where: string): number {
  const { value, error } = tryParseQuantity(text)
  const bytes = value === undefined ? Number.NaN : Number(quantityValue(value))
  if (error !== undefined || !Number.isSafeInteger(bytes) || bytes <= 0)
    throw new ConfigError(`${where}: ${show(text)} is not an amount of bytes such as 10Gi`)
  return bytes
}

/** Water marks, as texts between 0 and 1; absent ones stay absent. */
export function shares(high: string | undefined, low: string | undefined, where: string): { high?: number; low?: number } {
  const [highShare, lowShare] = [shareOf(high, `${where}.high`), shareOf(low, `${where}.low`)]
  if (highShare !== undefined && lowShare !== undefined && lowShare > highShare)
    throw new ConfigError(`${where}: low must not be above high`)
  return { ...(highShare === undefined ? {} : { high: highShare }), ...(lowShare === undefined ? {} : { low: lowShare }) }
}

function shareOf(text: string | undefined, where: string): number | undefined {
  if (text === undefined || text === '') return undefined
  const share = /^[0-9]*\.?[0-9]+$/.test(text) ? Number(text) : Number.NaN
  if (!(share > 0 && share <= 1)) throw new ConfigError(`${where}: ${show(text)} is not a share such as 0.95`)
  return share
}

const show = (text: string): string => JSON.stringify(text.slice(0, 100))
