/** Good input to start from: recorded requests of a real server, and every kind with its schema. */

import type { Json } from '../../src/base/json.ts'
import { kindsOf } from '../../src/composition.ts'
import type { Schema } from '../../src/kube/schema.ts'
import { goldenSteps } from '../conformance/recorded.ts'

export const NAMESPACES = ['fuzz-0', 'fuzz-1']

export interface Sample {
  method: string
  /** With `<ns>` where a namespace goes. */
  path: string
  headers: Record<string, string>
  body: Json | undefined
}

export interface FuzzKind {
  group: string
  version: string
  kind: string
  plural: string
  namespaced: boolean
  verbs: readonly string[]
  subresources: readonly string[]
  schema: Schema
}

export interface Corpus {
  samples: readonly Sample[]
  /** Creates that the real server took. */
  creates: readonly Sample[]
  /** Those with a JSON body. */
  writes: readonly (Sample & { body: Json })[]
  kinds: readonly FuzzKind[]
}

const FILL = /\$\{[^}]*\}/g

export function readCorpus(): Corpus {
  const samples = goldenSteps()
    .filter((step) => typeof step.method === 'string' && typeof step.path === 'string')
    .map((step) => {
      const text = JSON.stringify({ path: step.path, headers: step.headers ?? {}, body: step.body ?? null }).replaceAll(FILL, '1')
      const filled = JSON.parse(text) as { path: string; headers: Record<string, string | string[] | null>; body: Json }
      const headers = Object.entries(filled.headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name.toLowerCase(), value] as const] : [],
      )
      return {
        isTaken: step.status === 201,
        method: step.method,
        path: filled.path,
        headers: Object.fromEntries(headers),
        body: step.body === undefined ? undefined : filled.body,
      }
    })
  const kinds = kindsOf('member', false).flatMap((definition) =>
    definition.versions.map((version) => ({
      group: definition.group,
      version: version.name,
      kind: definition.kind,
      plural: definition.plural,
      namespaced: definition.namespaced,
      verbs: definition.verbs,
      subresources: definition.subresources.map((one) => one.name),
      schema: version.schema,
    })),
  )
  const creates = samples.filter((one) => one.isTaken && one.method === 'POST' && one.body !== undefined)
  return { samples, creates, writes: samples.flatMap((one) => (one.body === undefined ? [] : [{ ...one, body: one.body }])), kinds }
}
