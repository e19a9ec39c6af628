import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { ERROR_CATALOGUE } from '../../base/errors/catalogue.ts'
import { ownAdmissionOf } from '../../composition.ts'
import { builtinAdmission } from '../../kinds/kubernetes/admission/index.ts'
import { referencePages } from './pages.ts'

const pages = new Map(referencePages().map((page) => [path.basename(page.path, '.md'), page.content]))
const page = (name: string): string => pages.get(name) ?? assert.fail(`no page ${name}`)

/** Codes that the program's sources use, apart from the catalogue itself. */
function codesInUse(folder = 'src'): Set<string> {
  const found = new Set<string>()
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name)
    if (!entry.isFile() || !/(?<!\.test)\.ts$/.test(file) || file.endsWith(path.join('errors', 'catalogue.ts'))) continue
    for (const [code] of readFileSync(file, 'utf8').matchAll(/\bE_[A-Z]+_[A-Z_]+\b/g)) found.add(code)
  }
  return found
}

describe('the reference', () => {
  it('has every error code that is used, and uses every code it has', () => {
    const documented = [...page('errors').matchAll(/^\| `(E_\w+)` \|/gm)].map(([, code]) => code)
    assert.deepEqual(documented, Object.keys(ERROR_CATALOGUE))
    assert.deepEqual([...codesInUse()].sort(), [...documented].sort())
  })

  it('has every command with its options, and what they fall back to', () => {
    for (const command of ['up', 'controllers', 'why', 'get', 'join', 'unjoin', 'down', 'backup', 'restore', 'repair', 'version'])
      assert.match(page('cli'), new RegExp(`^## sluice ${command}$`, 'm'))
    assert.match(page('cli'), /^\| `--data-dir <dir>` \| where everything is kept \| \.\/\.sluice \|$/m)
    assert.match(page('cli'), /^\| `<file>` \| a file that `sluice backup` wrote \| required \|$/m)
    assert.match(page('cli'), /^sluice up --detach +the same in the background$/m)
  })

  it('has every admission in its order, with a sentence and where it runs', () => {
    const all = [...builtinAdmission({ serviceAccount: true, storageProtection: true }), ...ownAdmissionOf('hub')]
    for (const { name, about } of all) assert.match(about ?? '', /\.$/, `${name} says nothing about itself`)
    const names = [...page('admission').matchAll(/^\| \d+ \| `(\w[\w-]*)` \|/gm)].map(([, name]) => name)
    const ofPods = ['DatasetLocality', 'DatasetSidecar', 'DatasetInlineVolumes', 'RunPlacement']
    assert.deepEqual(names, [...all.map(({ name }) => name), ...ofPods, 'rbac-escalation'])
    assert.match(page('admission'), /`ServiceAccount` .* \| members \|$/m)
    assert.match(page('admission'), /`StorageObjectInUseProtection` .* \| members, bare \|$/m)
  })

  it('has the limits in units that people read', () => {
    assert.match(page('limits'), /^\| `objectBytes` \| 1\.5 MiB \|/m)
    assert.match(page('limits'), /^\| `streams` \| 250 \|/m)
    assert.match(page('limits'), /^\| `idleTimeoutMs` \| 90 s \|/m)
    assert.match(page('limits'), /^\| `maxEvents` \| 100,000 \|/m)
  })
})
