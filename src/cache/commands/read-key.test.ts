import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import { seededRandom } from '../../base/random.ts'
import { inTemporaryDirectory } from '../sources/testing.ts'
import { realClock } from '../testing.ts'
import { type Deps, readKey } from './deps.ts'

const deps: Deps = {
  ...{ env: new Map(), clock: realClock, random: seededRandom(1), signal: new AbortController().signal },
  log: { write: () => undefined },
  print: () => undefined,
}

describe("the runtime's key", () => {
  it('is not there where no Secret is mounted, and must be there where one is', () =>
    inTemporaryDirectory(async (directory) => {
      const file = path.join(directory, 'key', 'key')
      assert.equal(readKey(deps, file), undefined)
      await mkdir(path.dirname(file))
      assert.throws(() => readKey(deps, file), /is mounted and holds no key: delete its Secret, and it is made again/)
      await writeFile(file, 'short')
      assert.throws(() => readKey(deps, file), /must hold 32 bytes/)
      await writeFile(file, Buffer.alloc(32, 7))
      assert.deepEqual(readKey(deps, file), Buffer.alloc(32, 7))
    }))
})
