/** Our kinds on a server that is not ours: created where they are absent, never overwritten, waited for until served. */
import { type Clock, sleep } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { CUSTOM_RESOURCE_DEFINITIONS } from '../client/builtin-resources.ts'
import type { Client } from '../client/client.ts'
import { isAlreadyExists, isNotFound } from '../client/errors.ts'
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
}

const WAIT_MS = 30_000
const LOOK_EVERY_MS = 200

/** Returns the names of those that were created. */
export async function installDefinitions(kinds: readonly OwnKind[], options: InstallOptions): Promise<string[]> {
  const created: string[] = []
  for (const kind of kinds) {
    const name = kind.crd.metadata.name ?? ''
    if (await create(withConversion(kind, options), options)) created.push(name)
    else options.log.write('info', 'a definition is already there and is left as it is', { definition: name })
  }
  for (const kind of kinds) await established(kind.crd.metadata.name ?? '', options)
  return created
}

function withConversion(kind: OwnKind, { conversion }: InstallOptions): KubeObject {
  if (kind.definition.convert === undefined || conversion === undefined) return kind.crd
  const webhook = { clientConfig: conversion, conversionReviewVersions: ['v1'] }
  return { ...kind.crd, spec: { ...(kind.crd.spec as object), conversion: { strategy: 'Webhook', webhook } } }
}

async function create(crd: KubeObject, { client }: InstallOptions): Promise<boolean> {
  try {
    await client.get(CUSTOM_RESOURCE_DEFINITIONS, { name: crd.metadata.name ?? '' })
    return false
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  try {
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, crd)
    return true
  } catch (error) {
    // Somebody else was faster: it is there.
    if (isAlreadyExists(error)) return false
    throw error
  }
}

async function established(name: string, { client, clock }: InstallOptions): Promise<void> {
  const deadline = clock.now() + WAIT_MS
  for (;;) {
    const { status } = await client.get(CUSTOM_RESOURCE_DEFINITIONS, { name })
    const { conditions } = (status ?? {}) as { conditions?: { type: string; status: string; message?: string }[] }
    if (isConditionTrue(conditions, 'Established')) return
    const refused = conditions?.find((condition) => condition.type === 'NamesAccepted' && condition.status === 'False')
    if (refused !== undefined || clock.now() > deadline)
      throw new CommandError(`the server does not serve ${name}: ${refused?.message ?? `not established after ${WAIT_MS / 1000} s`}`)
    await sleep(clock, LOOK_EVERY_MS)
  }
}
