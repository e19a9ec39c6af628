import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { checkDns1123Subdomain } from '../../../kube/names.ts'
import { APP_SCRIPT_TEXT, MOUNT_SCRIPT_TEXT, mountScriptName, scriptHash } from './texts.ts'

const directory = mkdtempSync(path.join(tmpdir(), 'sidecar-scripts-'))
after(() => rmSync(directory, { recursive: true }))
const at = (...parts: string[]): string => path.join(directory, ...parts)

/** With one attempt, and the mounts that the test says. */
function run(text: string, args: readonly string[], mounts: readonly [point: string, kind: string][], env: Record<string, string> = {}) {
  const lines = mounts.map(([point, kind], i) => `${i + 20} 1 0:${i} / ${point} rw,relatime shared:${i} - ${kind} source rw\n`)
  writeFileSync(at('mountinfo'), lines.join(''))
  writeFileSync(at('script.sh'), text)
  const given = { PATH: '/usr/bin:/bin', MOUNTINFO: at('mountinfo'), TRIES: '1', PAUSE: '0', ...env }
  const { status, stderr } = spawnSync('sh', [at('script.sh'), ...args], { env: given, encoding: 'utf8' })
  return { status, stderr }
}

describe('the script of a client', () => {
  const root = at('mnt')
  mkdirSync(path.join(root, 'train'), { recursive: true })
  const CASES: [string, string[], [string, string][], number][] = [
    ['a mount of its type', [root, 'JuiceFS', ''], [[root, 'JuiceFS']], 0],
    ['a mount by FUSE', [root, 'cache', ''], [[root, 'fuse.curvine']], 0],
    [
      'a mount over the directory itself',
      [root, 'JuiceFS'],
      [
        [root, 'ext4'],
        [root, 'JuiceFS'],
      ],
      0,
    ],
    ['a sub path', [root, 'JuiceFS', 'train'], [[root, 'JuiceFS']], 0],
    ['no mount', [root, 'JuiceFS', ''], [], 1],
    ['only the directory', [root, 'JuiceFS', ''], [[root, 'ext4']], 1],
    ['another mount', [root, 'JuiceFS', ''], [[`${root}/x`, 'JuiceFS']], 1],
    ['no sub path', [root, 'JuiceFS', 'test'], [[root, 'JuiceFS']], 2],
    ['what looks like a command', [`${root}; exit 0`, '*', '$(exit 0)'], [[root, 'JuiceFS']], 1],
  ]
  for (const [says, args, mounts, expected] of CASES)
    it(`ends with ${expected}: ${says}`, () => {
      const { status, stderr } = run(MOUNT_SCRIPT_TEXT, args, mounts)
      assert.equal(status, expected, stderr)
      assert.equal(stderr === '', expected === 0)
    })

  it('tries as often as it says, and then tells why', () => {
    const { status, stderr } = run(MOUNT_SCRIPT_TEXT, [root, 'JuiceFS', ''], [], { TRIES: '3' })
    assert.deepEqual([status, stderr], [1, `${root} is not mounted after 3 attempts: see the log of this container\n`])
  })
})

describe("the script of a pod's own containers", () => {
  const CASES: [string, string[], [string, string][], number][] = [
    [
      'each is mounted',
      ['/a:/b', 'JuiceFS:fuse.x'],
      [
        ['/a', 'JuiceFS'],
        ['/b', 'fuse.x'],
      ],
      0,
    ],
    [
      'one is not',
      ['/a:/b', 'JuiceFS:JuiceFS'],
      [
        ['/a', 'JuiceFS'],
        ['/b', 'ext4'],
      ],
      1,
    ],
    ['the first is not', ['/a:/b', 'JuiceFS:JuiceFS'], [['/b', 'JuiceFS']], 1],
    ['one alone', ['/a', 'JuiceFS'], [['/a', 'JuiceFS']], 0],
    ['nothing', ['', ''], [], 0],
  ]
  for (const [says, args, mounts, expected] of CASES)
    it(`ends with ${expected}: ${says}`, () => assert.equal(run(APP_SCRIPT_TEXT, args, mounts).status, expected))
})

describe('the name of a script', () => {
  it('is that of the dataset and its mount type', () => {
    assert.equal(mountScriptName('demo', 'fuse.alluxio-fuse'), 'demo-fuse.alluxio-fuse-check-mount')
    assert.equal(mountScriptName('demo', 'JuiceFS'), 'demo-juicefs-check-mount')
  })

  it('is one, whatever the type is', () => {
    for (const type of ['', '.', 'a..b', 'a.-b', '-.', 'A/B c', 'x'.repeat(400), '..', 'ü'])
      assert.deepEqual(checkDns1123Subdomain(mountScriptName('demo', type)), [], `${type} → ${mountScriptName('demo', type)}`)
  })

  it('has a hash that a label can have', () => assert.match(scriptHash('x'), /^[0-9a-f]{63}$/))
})
