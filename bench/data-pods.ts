/**
 * Pods that read a dataset on a process node of `sluice up`, beside pods that have the source itself mounted: from their creation
 * until they have read every byte. The first pod of a node waits until its files are there, the second must not.
 */
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Client } from '../src/client/client.ts'
import type { Dataset } from '../src/kinds/fluid/index.ts'
import { CACHE_RUNTIMES, DATASETS } from '../src/kinds/fluid/resources.ts'
import { PODS } from '../src/kinds/kubernetes/resources.ts'
import type { Pod } from '../src/kinds/kubernetes/types.ts'
import type { KubeObject } from '../src/kube/meta.ts'
import { type FilesShape, makeFiles } from './data-bytes.ts'
import { builtinDatasetOf, builtinRuntimeOf, makeNamespace } from './data-objects.ts'
import { until } from './data-waits.ts'
import type { EmbeddedFleet } from './embedded-fleet.ts'

export interface PodFigures {
  shape: FilesShape
  /** Of several pods, the fastest: the machine has other work. */
  directMs: number
  firstMs: number
  secondMs: number
  firstCopiedBytes: number
  secondCopiedBytes: number
}

const NAMESPACE = 'readers'
const DATA = 'data'
const WITHIN_MS = 10 * 60_000
const SECONDS = 3

export async function measurePods({ setup, dataDir }: EmbeddedFleet, shape: FilesShape): Promise<PodFigures> {
  const [member] = setup.members
  if (member === undefined) throw new Error('there is no member')
  const source = path.join(dataDir, '..', 'source')
  makeFiles(source, shape)
  await makeNamespace(member, NAMESPACE)
  const mebibytes = Math.ceil((shape.files * shape.bytesEach) / 1024 ** 2)
  await member.create(DATASETS, builtinDatasetOf(DATA, NAMESPACE, source))
  await member.create(CACHE_RUNTIMES, builtinRuntimeOf(DATA, NAMESPACE, `${2 * mebibytes + 64}Mi`))
  await until('the dataset is bound', WITHIN_MS, async () => {
    const { items } = await member.list<Dataset>(DATASETS, { namespace: NAMESPACE })
    return items[0]?.status?.phase === 'Bound'
  })
  const direct = { name: DATA, hostPath: { path: source } }
  const claim = { name: DATA, persistentVolumeClaim: { claimName: DATA, readOnly: true } }
  const directMs: number[] = []
  const secondMs: number[] = []
  directMs.push(await played(member, 'direct-first', direct))
  const before = materialisedBytes(dataDir)
  const firstMs = await played(member, 'first', claim)
  const between = materialisedBytes(dataDir)
  for (let i = 0; i < SECONDS; i++) {
    directMs.push(await played(member, `direct-${i}`, direct))
    secondMs.push(await played(member, `second-${i}`, claim))
  }
  const figures = {
    ...{ shape, firstMs, directMs: Math.min(...directMs), secondMs: Math.min(...secondMs) },
    ...{ firstCopiedBytes: between - before, secondCopiedBytes: materialisedBytes(dataDir) - between },
  }
  console.log(JSON.stringify(figures))
  return figures
}

const containerOf = (name: string, script: string) => ({
  name,
  image: 'this-machine',
  command: ['sh', '-c', script],
  volumeMounts: [{ name: DATA, mountPath: '/data', readOnly: true }],
})

/** Reads everything, then runs: the files of a volume stay as long as a pod has it. */
const readerOf = (name: string, volume: object): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      initContainers: [containerOf('reader', 'find /data -type f -print0 | xargs -0 cat > /dev/null')],
      containers: [containerOf('keeper', 'exec sleep 3600')],
      volumes: [volume],
    },
  }) as KubeObject

async function played(member: Client, name: string, volume: object): Promise<number> {
  const began = performance.now()
  await member.create(PODS, readerOf(name, volume))
  await until(`pod ${name} has read everything`, WITHIN_MS, async () => {
    const pod = await member.get<Pod>(PODS, { namespace: NAMESPACE, name })
    if (pod.status?.phase === 'Failed') throw new Error(`pod ${name} failed: ${JSON.stringify(pod.status)}`)
    return pod.status?.phase === 'Running'
  })
  return performance.now() - began
}

/** Of all nodes. A file with several links counts once. */
function materialisedBytes(dataDir: string): number {
  const seen = new Map<number, number>()
  for (const entry of readdirSync(dataDir, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath ?? entry.path, entry.name)
    if (!entry.isFile() || !file.includes('/generations/')) continue
    const { ino, size } = statSync(file)
    seen.set(ino, size)
  }
  return [...seen.values()].reduce((sum, size) => sum + size, 0)
}
