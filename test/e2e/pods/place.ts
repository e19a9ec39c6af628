/**
 * A default member as its user meets it: a Sluice on the user's directory, and kubectl on its first member. Results come
 * from commands that users type; only polling asks the server directly, because it is frequent.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  Container,
  ContainerStatus,
  Event,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
} from '../../../src/kinds/kubernetes/types.ts'
import type { CommandResult } from '../../machine/run-command.ts'
import type { Person, Started } from '../person.ts'

const MEMBER = 'member1'
const PATIENCE_S = 90

export class Place {
  readonly person: Person
  readonly dir: string
  /** In names of directories that pods mount, so that they are unique. */
  readonly mark = randomBytes(4).toString('hex')

  constructor(person: Person, dir: string) {
    this.person = person
    this.dir = dir
  }

  async up(...options: string[]): Promise<void> {
    const up = await this.person.sluice('up', '--detach', '--port', '0', '--data-dir', this.dir, ...options)
    assert.equal(up.exitCode, 0, up.stdout + up.stderr)
  }

  /** `kubectl …` that must succeed; what it printed. */
  async kubectl(...args: string[]): Promise<string> {
    const result = await this.tryKubectl(...args)
    assert.equal(result.exitCode, 0, `kubectl ${args.join(' ')}: ${result.stdout}${result.stderr}`)
    return result.stdout
  }

  tryKubectl(...args: string[]): Promise<CommandResult> {
    return this.person.run('kubectl', ...this.access(), ...args)
  }

  /** Runs until it ends on its own. */
  startKubectl(...args: string[]): Started {
    return this.person.start('kubectl', ...this.access(), ...args)
  }

  /** The flags that select the cluster for kubectl. */
  access(): string[] {
    return ['--kubeconfig', path.join(this.dir, 'kubeconfig'), '--context', MEMBER]
  }

  async apply(...objects: object[]): Promise<void> {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
    const result = await this.person.runWith(list, 'kubectl', ...this.access(), 'apply', '-f', '-')
    assert.equal(result.exitCode, 0, result.stdout + result.stderr)
  }

  /** Undefined when there is no such object. */
  async get<T>(resource: string, name: string, group = 'api/v1'): Promise<T | undefined> {
    const answer = await this.person.ask(this.dir, MEMBER, { path: `/${group}/namespaces/default/${resource}/${name}` })
    return answer.status === 200 ? (JSON.parse(answer.body) as T) : undefined
  }

  async list<T>(url: string): Promise<T[]> {
    const answer = await this.person.ask(this.dir, MEMBER, { path: url })
    assert.equal(answer.status, 200, answer.body)
    return (JSON.parse(answer.body) as { items: T[] }).items
  }

  pods(app: string): Promise<Pod[]> {
    return this.list<Pod>(`/api/v1/namespaces/default/pods?labelSelector=app%3D${app}`)
  }

  events(pod: Pod): Promise<Event[]> {
    return this.list<Event>(`/api/v1/namespaces/default/events?fieldSelector=involvedObject.uid%3D${pod.metadata.uid ?? ''}`)
  }

  /** The pod once it is as wanted; on timeout, reports its actual state. */
  async podWhen(name: string, isSo: (pod: Pod) => boolean): Promise<Pod> {
    let seen: Pod | undefined
    await until(
      () => `pod ${name} as wanted; its status is ${JSON.stringify(seen?.status)}`,
      async () => {
        seen = await this.get<Pod>('pods', name)
        return seen !== undefined && isSo(seen)
      },
    )
    return seen as Pod
  }

  running = (name: string): Promise<Pod> => this.podWhen(name, isReady)

  /** The directory of a claim's volume, as the user finds it. */
  async directoryOf(claim: string): Promise<string> {
    const bound = await this.get<PersistentVolumeClaim>('persistentvolumeclaims', claim)
    const answer = await this.person.ask(this.dir, MEMBER, { path: `/api/v1/persistentvolumes/${bound?.spec?.volumeName ?? ''}` })
    const directory = (JSON.parse(answer.body) as PersistentVolume).spec?.local?.path
    if (directory?.startsWith(this.dir) !== true) throw new Error(`the volume is not in the data directory but at ${directory}`)
    return directory
  }

  /** As the user at the terminal, not as the user who runs the tests. */
  async shell(script: string): Promise<string> {
    const result = await this.person.run('sh', '-c', script)
    assert.equal(result.exitCode, 0, result.stderr)
    return result.stdout
  }

  log(): string {
    return readFileSync(path.join(this.dir, 'log'), 'utf8')
  }
}

export async function until(what: () => string, check: () => Promise<boolean>, seconds = PATIENCE_S): Promise<void> {
  const began = performance.now()
  while (!(await check())) {
    if (performance.now() - began > seconds * 1000) throw new Error(`not seen in ${seconds} s: ${what()}`)
    await sleep(200)
  }
}

export const isReady = ({ status }: Pod): boolean =>
  (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True')

export const containerOf = ({ status }: Pod, name: string): ContainerStatus | undefined =>
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find((one) => one.name === name)

export const shell = (script: string, more: Partial<Container> = {}): Container => ({
  name: 'main',
  image: 'this-machine',
  command: ['sh', '-c', script],
  ...more,
})

/** Without a grace period, where a test does not need one. */
export const aPod = (name: string, spec: PodSpec, annotations?: Record<string, string>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name }, annotations },
  spec: { terminationGracePeriodSeconds: 1, ...spec },
})

export const aJob = (name: string, spec: PodSpec): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { backoffLimit: 0, template: { metadata: { labels: { app: name } }, spec: { restartPolicy: 'Never', ...spec } } },
})

export const aClaim = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Mi' } } },
})

export const claimVolume = (claimName: string): NonNullable<PodSpec['volumes']>[number] => ({
  name: claimName,
  persistentVolumeClaim: { claimName },
})
