/** What a command prints when its server cannot be reached. */
import type { TransportError } from '../client/transport.ts'
import { CommandError } from './machine.ts'

export const unanswered = (who: string, error: TransportError): CommandError =>
  new CommandError(
    `${who} does not answer: ${error.message}\nIs it running? \`sluice up\` starts it here; --kubeconfig or $KUBECONFIG name another one.`,
    error,
  )
