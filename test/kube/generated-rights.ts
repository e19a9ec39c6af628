/** A kubeconfig of the ServiceAccount that `deploy/rbac` makes, with the rights it gives and no others. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { RealServer } from '../machine/real-server.ts'

/** Succeeds, or throws kubectl's message. */
export async function kubectl(server: RealServer, ...args: string[]): Promise<string> {
  const said = await server.kubectl(...args)
  assert.equal(said.exitCode, 0, `kubectl ${args.join(' ')}: ${said.stderr}`)
  return said.stdout
}

export async function withGeneratedRights(server: RealServer): Promise<string> {
  await kubectl(server, 'apply', '-f', 'deploy/rbac/member.yaml')
  const token = (await kubectl(server, '-n', 'kube-system', 'create', 'token', 'sluice')).trim()
  const config = JSON.parse(await kubectl(server, 'config', 'view', '--raw', '--minify', '--flatten', '-o', 'json')) as {
    users: { user: object }[]
  }
  for (const user of config.users) user.user = { token }
  const file = path.join(server.folder, 'service-account.kubeconfig')
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
  return file
}

/** In the log of a program that lacked one. */
export const LACKS_A_RIGHT = / cannot \w+ resource/
