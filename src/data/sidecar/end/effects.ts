/** Ends a client in the old form of a sidecar, by its own command for that, or by taking its mount away. */
import type { Clock } from '../../../base/clock.ts'
import { execInPod } from '../../../client/exec-in-pod.ts'
import { type Effect, EXEC_IN_PODS } from '../../../runtime/controller.ts'
import { shown } from '../../dataset/text.ts'

export interface EndInput {
  namespace: string
  pod: string
  container: string
  command: readonly string[]
}

const COMMAND_MS = 30_000
const SLACK_MS = 5000
const MOST_BYTES = 4096
const LONGEST_COMPLAINT = 400
/** It was killed: the client has ended under the command. */
const KILLED = 137

export const endSidecar = (clock: Clock): Effect<EndInput, true> => ({
  name: 'data.sidecar.end.unmount',
  about: 'Runs the command in a sidecar that ends it, once nothing else runs in its pod.',
  timeoutMs: COMMAND_MS + SLACK_MS,
  access: [EXEC_IN_PODS],
  async run(input, { client, signal }) {
    const { exitCode, stderr } = await execInPod(client, input, { clock, timeoutMs: COMMAND_MS, maxBytes: MOST_BYTES, signal })
    if (exitCode === 0 || exitCode === KILLED || stderr.includes('not mounted')) return true
    throw new Error(
      `${JSON.stringify(shown(input.command.join(' '), 100))} ended with exit code ${exitCode}: ${shown(stderr, LONGEST_COMPLAINT)}`,
    )
  },
})
