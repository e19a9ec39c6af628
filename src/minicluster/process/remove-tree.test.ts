import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { removeTree, removeTreeSync } from './remove-tree.ts'

/** As overlays leave it, and containers may; root is not stopped by it, and a plain user is on Node 24. */
function aTree(): { tree: string; elsewhere: string } {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'sluice-remove-'))
  const [tree, elsewhere] = [path.join(directory, 'tree'), path.join(directory, 'elsewhere')]
  for (const made of ['work/work', 'kept/out']) mkdirSync(path.join(tree, made), { recursive: true })
  mkdirSync(elsewhere)
  writeFileSync(path.join(tree, 'kept/out/file'), '')
  symlinkSync(elsewhere, path.join(tree, 'kept/link'))
  for (const closed of ['work/work', 'kept/out', 'kept']) chmodSync(path.join(tree, closed), 0)
  return { tree, elsewhere }
}

for (const [what, remove] of [
  ['at once', removeTreeSync],
  ['while others work', removeTree],
] as const)
  it(`a directory goes with all that its owner may not read, ${what}, and nothing that it points to`, async () => {
    const { tree, elsewhere } = aTree()
    await remove(tree)
    assert.deepEqual([existsSync(tree), existsSync(elsewhere)], [false, true])
    await remove(tree)
    await remove(path.dirname(tree))
  })
