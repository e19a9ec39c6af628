/** A CPU profile of a part of this process. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import path from 'node:path'

/** Without a directory, just does it. A later profile of the same name replaces an earlier one. */
export async function profiled<T>(
  { directory, name }: { directory: string | undefined; name: string },
  work: () => Promise<T>,
): Promise<T> {
  if (directory === undefined) return work()
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    const result = await work()
    const { profile } = await session.post('Profiler.stop')
    mkdirSync(directory, { recursive: true })
    writeFileSync(path.join(directory, `${name}.cpuprofile`), JSON.stringify(profile))
    return result
  } finally {
    session.disconnect()
  }
}
