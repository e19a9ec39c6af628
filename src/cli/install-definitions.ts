/** Our kinds on a foreign server: created where they are absent, never overwritten, awaited until served. */
import { type Clock, sleep } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Client } from '../client/client.ts'
import { ifFound, isAlreadyExists } from '../client/errors.ts'
import { CUSTOM_RESOURCE_DEFINITIONS } from '../kinds/kubernetes/resources.ts'
import type { OwnKind } from '../kinds/schema/define-kind.ts'
import { isConditionTrue } from '../kube/conditions.ts'
import type { KubeObject } from '../kube/meta.ts'
import { CommandError } from './machine.ts'

export interface InstallOptions {
  client: Client
  clock: Clock
  log: Log
  /** How the server reaches our conversion, for kinds that need it. */
  conversion?: { url: string; caBundle: string }
  /** Aborted when they are no longer needed. */
  signal?: AbortSignal
}

const WAIT_MS = 30_000
const LOOK_EVERY_MS = 200
/** On definitions whose conversion is ours: which program may update its address. */
const CONVERTED_BY = 'sluice.dev/converted-by'

/** Returns the names of those that were created. */
export async function installDefinitions(kinds: readonly OwnKind[], options: InstallOptions): Promise<string[]> {
  const created: string[] = []
  for (const kind of kinds) {
    const name = kind.crd.metadata.name ?? ''
    const found = await find(name, options.client)
    if (found === undefined && (await create(withConversion(kind, options), options))) created.push(name)
    else if (found === undefined || !(await renewConversion(found, kind, options)))
      options.log.write('info', 'a definition is already there and is left as it is', { definition: name })
  }
  for (const kind of kinds) await established(kind.crd.metadata.name ?? '', options)
  return created
}

/** A kind of one version is never converted. */
const needsConversion = ({ definition }: OwnKind): boolean => definition.convert !== undefined && definition.versions.length > 1

function withConversion(kind: OwnKind, { conversion }: InstallOptions): KubeObject {
  if (!needsConversion(kind) || conversion === undefined) return kind.crd
  const webhook = { clientConfig: conversion, conversionReviewVersions: ['v1'] }
  const metadata = { ...kind.crd.metadata, annotations: { ...kind.crd.metadata.annotations, [CONVERTED_BY]: 'sluice' } }
  return { ...kind.crd, metadata, spec: { ...(kind.crd.spec as object), conversion: { strategy: 'Webhook', webhook } } }
}

/**
 * A definition that an earlier process of ours created names the address and authority of a process that has ended: only
 * these two fields are renewed, and only there. False when it is not such a definition.
 */
async function renewConversion(found: KubeObject, kind: OwnKind, { client, conversion, log }: InstallOptions): Promise<boolean> {
  if (!needsConversion(kind) || conversion === undefined) return false
  if (found.metadata.annotations?.[CONVERTED_BY] !== 'sluice') return false
  const { name = '', resourceVersion } = found.metadata
  const body = { metadata: { resourceVersion }, spec: { conversion: { webhook: { clientConfig: conversion } } } }
  await client.patch(CUSTOM_RESOURCE_DEFINITIONS, { name }, { type: 'merge', body })
  log.write('info', 'a definition is already there; where it finds our conversion was renewed', { definition: name })
  return true
}

function find(name: string, client: Client): Promise<KubeObject | undefined> {
  return ifFound(client.get(CUSTOM_RESOURCE_DEFINITIONS, { name }))
}

async function create(crd: KubeObject, { client }: InstallOptions): Promise<boolean> {
  try {
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, crd)
    return true
  } catch (error) {
    // Another process was faster: it exists.
    if (isAlreadyExists(error)) return false
    throw error
  }
}

async function established(name: string, { client, clock, signal }: InstallOptions): Promise<void> {
  const deadline = clock.now() + WAIT_MS
  for (;;) {
    const { status } = await client.get(CUSTOM_RESOURCE_DEFINITIONS, { name })
    const { conditions } = (status ?? {}) as { conditions?: { type: string; status: string; message?: string }[] }
    if (isConditionTrue(conditions, 'Established')) return
    const refused = conditions?.find((condition) => condition.type === 'NamesAccepted' && condition.status === 'False')
    if (refused !== undefined || clock.now() > deadline)
      throw new CommandError(`the server does not serve ${name}: ${refused?.message ?? `not established after ${WAIT_MS / 1000} s`}`)
    await sleep(clock, LOOK_EVERY_MS, signal)
    signal?.throwIfAborted()
  }
}
