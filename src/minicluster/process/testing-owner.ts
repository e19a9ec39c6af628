/**
 * A program for tests: owns a machine and executes commands, one JSON text per line, so that it can run as another user, and
 * can be killed without warning.
 */
import { createInterface } from 'node:readline'
import type { VolumeFile } from '../../runtime/seams/volume-driver.ts'
import type { LogReading, RunId, RunSpec } from '../kubelet/container-machine.ts'
import { execIn, execInTerminal, isOver, isRunning, logOf, openMachine, until } from './testing.ts'

const [directory = '', shim = ''] = process.argv.slice(2)
const machine = openMachine(directory, shim)

const calls: Record<string, (...args: never[]) => unknown> = {
  refusal: () => machine.namespacesRefusal ?? '',
  start: (spec: RunSpec) => machine.start(spec),
  running: (run: RunId) => until(machine, run, isRunning),
  over: (run: RunId) => until(machine, run, isOver),
  runsOf: (podUid: string) => machine.runsOf(podUid),
  signal: (run: RunId, signal: string) => machine.signal(run, signal),
  directory: (podUid: string, ...parts: string[]) => machine.directory(podUid, ...parts),
  write: (at: string, files: readonly (Omit<VolumeFile, 'content'> & { text: string })[]) =>
    machine.writeFiles(
      at,
      files.map(({ text, ...file }) => ({ ...file, content: Buffer.from(text) })),
    ),
  podFile: (podUid: string, file: Parameters<typeof machine.writePodFile>[1]) => machine.writePodFile(podUid, file),
  log: (run: RunId, reading?: Partial<LogReading>) => logOf(machine, run, reading),
  exec: (run: RunId, command: readonly string[], input?: string) => execIn(machine, run, command, input),
  terminal: (run: RunId, command: readonly string[], typed: string) => execInTerminal(machine, run, command, typed),
  prune: (podUid: string, keep: number) => machine.prune(podUid, keep),
  memory: (podUid: string, name: string, sizeBytes?: number) => machine.memory(podUid, name, sizeBytes),
  releaseMemory: (podUid: string) => machine.releaseMemory(podUid),
  releaseIdle: () => machine.releaseIdle(),
  inside: (at: string, file: string) => machine.inside(at, file),
  remove: (podUid: string) => machine.remove(podUid),
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, name, args } = JSON.parse(line) as { id: number; name: string; args: never[] }
  void Promise.resolve()
    .then(() => calls[name]?.(...args))
    .then(
      (value) => ({ id, value }),
      (error: unknown) => ({ id, error: String(error) }),
    )
    .then((answer) => process.stdout.write(`${JSON.stringify(answer)}\n`))
})
process.stdin.on('end', () => process.exit())
