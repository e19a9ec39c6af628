/**
 * Where the system refuses namespaces: pods without mounts run, others say what to allow. The refusal is a real one: limits of
 * zero in a user namespace around the program, as an administrator sets them for a machine.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Person } from '../person.ts'
import { aPod, containerOf, Place, shell } from './place.ts'

const FEWER = 'echo 0 > /proc/sys/user/max_mnt_namespaces && echo 1 > /proc/sys/user/max_user_namespaces'
/** Another user namespace inside takes the last one, and all rights with it. */
const refusing = (person: Person): string[] => [
  ...['unshare', '--user', '--map-root-user', 'sh', '-c', `${FEWER} && exec "$@"`, 'refusing'],
  ...(person.isRoot ? [] : ['unshare', '--user', '--map-user=1000', '--map-group=1000']),
]

export async function whereNamespacesAreRefused(t: TestContext, person: Person, dir: string): Promise<void> {
  const tried = await person.run(...refusing(person), 'true')
  if (tried.exitCode !== 0) return t.skip(`limits cannot be set here: ${tried.stderr.trim()}`)
  const p = new Place(person, dir)
  const up = await person.run(
    ...refusing(person),
    ...person.commandOf('up', '--detach', '--members', '1', '--port', '0', '--data-dir', dir),
  )
  assert.equal(up.exitCode, 0, up.stdout + up.stderr)
  assert.match(up.stdout + up.stderr + p.log(), /this system refuses the namespaces that volumes need/)
  await p.apply(
    aPod('mounting', { containers: [shell('exec sleep 100000')] }),
    aPod('plain', { automountServiceAccountToken: false, restartPolicy: 'Never', containers: [shell('echo works')] }),
  )
  const pod = await p.podWhen('mounting', (one) => containerOf(one, 'main')?.state?.waiting?.reason === 'CreateContainerError')
  const message = containerOf(pod, 'main')?.state?.waiting?.message ?? ''
  assert.match(message, person.isRoot ? /Allow unshare and mount to root here/ : /Allow user namespaces to plain users \(sysctl/)
  assert.match(message, /automountServiceAccountToken: false/)
  await p.podWhen('plain', ({ status }) => status?.phase === 'Succeeded')
  assert.equal(await p.kubectl('logs', 'plain'), 'works\n')
  const down = await person.sluice('down', '--data-dir', dir)
  assert.equal(down.exitCode, 0, down.stdout + down.stderr)
}
