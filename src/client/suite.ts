/**
 * The behaviour of the client, as one suite that runs over every transport and server: in process, over TLS on the embedded
 * server, and on a real kube-apiserver.
 */
import { after, before, describe, it } from 'node:test'
import type { ClientHarness, ClientTestbed, ServerUnderTest } from './suite-harness.ts'
import { openTestbed } from './suite-harness.ts'
import { informerCases } from './suite-informer.ts'
import { objectCases } from './suite-objects.ts'
import { retryCases } from './suite-retries.ts'
import { watchCases } from './suite-watch.ts'

/** A case and what it needs beyond a server. */
export interface ClientCase {
  name: string
  /** Only where waiting costs nothing. */
  isSlow?: boolean
  /** Only where the server can be made to drop its history. */
  needsForgetting?: boolean
  tries?: number
  run(testbed: ClientTestbed): Promise<void>
}

export function clientSuite(name: string, harness: ClientHarness): void {
  const groups: Record<string, readonly ClientCase[]> = {
    objects: objectCases,
    watches: watchCases,
    retries: retryCases,
    informers: informerCases,
  }
  for (const [group, cases] of Object.entries(groups))
    describe(`${name}: ${group}`, () => {
      let server: ServerUnderTest | undefined
      before(async () => {
        server = await harness.open()
      })
      after(() => server?.close())
      for (const one of cases)
        it(one.name, async (test) => {
          if (server === undefined) throw new Error('the server was not opened')
          if (one.isSlow && !server.isVirtual) return test.skip('takes minutes of real time')
          if (one.needsForgetting && server.forget === undefined) return test.skip('this server cannot be told to forget')
          const opened = server
          await opened.run(async () => one.run(await openTestbed(opened, one.tries)))
        })
    })
}
