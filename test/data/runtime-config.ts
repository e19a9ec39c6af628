/** runtime.json, as the pods of a cache find it. */
import assert from 'node:assert/strict'
import { CONFIG_MAPS } from '../../src/kinds/kubernetes/resources.ts'
import { there } from './expectations.ts'
import type { DataTestbed } from './story.ts'

interface Component {
  enabled?: boolean
  replicas?: number
  options?: Record<string, string>
  tieredStoreLevels?: { mediumType: string; quotas?: string[] }[]
}

export interface RuntimeConfig {
  mounts: { mountPoint: string; path: string; options?: Record<string, string>; encryptOptions?: Record<string, string> }[]
  accessModes: string[]
  master?: Component
  worker?: Component
  client?: Component
}

export async function runtimeConfigOf(testbed: DataTestbed, name = 'demo'): Promise<RuntimeConfig> {
  const { data } = await there(testbed, CONFIG_MAPS, `fluid-runtime-config-${name}`)
  const text = data?.['runtime.json']
  assert.ok(text !== undefined, 'there is no runtime.json')
  return JSON.parse(text) as RuntimeConfig
}
