/**
 * Where requests go: the server and the two identities (the kubeconfig's user, and anonymous), read from a kubeconfig.
 * Node's own https client is used, not ours, so that a mistake of our client cannot hide one of our server.
 */
import { readFileSync } from 'node:fs'
import https from 'node:https'
import path from 'node:path'
import { parse } from 'yaml'

export interface Target {
  url: URL
  asUser: https.Agent
  asNobody: https.Agent
  /** Sent as a bearer token when the user has no certificate. */
  token: string | undefined
  close(): void
}

type Section = Record<string, string | undefined>

interface Kubeconfig {
  'current-context'?: string
  contexts?: { name: string; context: { cluster: string; user: string } }[]
  clusters?: { name: string; cluster: Section }[]
  users?: { name: string; user: Section }[]
}

export function readTarget(kubeconfig: string, contextName?: string): Target {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig
  const context = named(config.contexts, contextName ?? config['current-context'])?.context
  const cluster = named(config.clusters, context?.cluster)?.cluster
  if (cluster?.server === undefined) throw new Error(`${kubeconfig}: no server for context ${contextName ?? config['current-context']}`)
  const user = named(config.users, context?.user)?.user ?? {}
  const folder = path.dirname(path.resolve(kubeconfig))
  const ca = bytes(cluster, 'certificate-authority', folder)
  const cert = bytes(user, 'client-certificate', folder)
  const key = bytes(user, 'client-key', folder)
  const asUser = new https.Agent({ keepAlive: true, ca, cert, key })
  const asNobody = new https.Agent({ keepAlive: true, ca })
  return {
    url: new URL(cluster.server),
    asUser,
    asNobody,
    token: cert === undefined ? user.token : undefined,
    close() {
      asUser.destroy()
      asNobody.destroy()
    },
  }
}

function named<T extends { name: string }>(list: T[] | undefined, name: string | undefined): T | undefined {
  return list?.find((entry) => entry.name === name) ?? list?.[0]
}

function bytes(section: Section, key: string, folder: string): Buffer | undefined {
  const data = section[`${key}-data`]
  if (data !== undefined) return Buffer.from(data, 'base64')
  const file = section[key]
  return file === undefined ? undefined : readFileSync(path.resolve(folder, file))
}
