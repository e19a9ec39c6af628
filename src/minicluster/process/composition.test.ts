import assert from 'node:assert/strict'
import path from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Mount } from '../kubelet/container-machine.ts'
import { type Composition, CompositionError, type CompositionRequest, composeRoot, type FileView } from './composition.ts'
import { mountTable, parseMountInfo } from './mount-table.ts'

/** A file system in a few lines: a directory is an object, a link is '-> target', anything else is a file. */
interface Tree {
  [name: string]: Tree | string
}

const MACHINE: Tree = {
  bin: '-> usr/bin',
  etc: { passwd: 'p', ssl: { certs: {} }, 'alternatives.link': '-> ../usr' },
  proc: { self: {} },
  run: { lock: {} },
  srv: { www: { site: {} } },
  tmp: {},
  usr: { bin: { sh: 'program' }, share: { doc: {} } },
  var: { run: '-> /run', log: {} },
  vmlinuz: 'file',
  data: { volumes: { a: { inner: {} }, b: {}, f: 'file' } },
}

function viewOf(tree: Tree): FileView {
  const find = (file: string): Tree | string | undefined => {
    let at: Tree | string | undefined = tree
    for (const part of file.split('/').filter((name) => name !== '')) {
      if (typeof at !== 'object' || !Object.hasOwn(at, part)) return undefined
      at = at[part]
    }
    return at
  }
  return {
    kindOf(file) {
      const found = find(file)
      if (found === undefined) return undefined
      return typeof found === 'object' ? 'directory' : found.startsWith('-> ') ? 'link' : 'file'
    },
    linkOf: (file) => String(find(file)).slice(3),
    namesIn: (directory) => Object.keys((find(directory) ?? {}) as Tree),
  }
}

const compose = (mounts: readonly Mount[], more: Partial<CompositionRequest> = {}): Composition =>
  composeRoot(
    { base: '/', mounts, workingDir: '/', ownProc: false, mayMake: (file) => file.startsWith('/data/'), fromHost: [], ...more },
    viewOf(MACHINE),
  )

const mount = (source: string, at: string, readOnly = false): Mount => ({ source: `/data/volumes/${source}`, path: at, readOnly })
const bindsOf = (composition: Composition): string[] =>
  composition.binds.map((bind) => `${bind.source} ${bind.at}${bind.readOnly ? ' ro' : ''}`)

describe('the root that a container sees', () => {
  it('is this machine, as it is', () => {
    const composition = compose([])
    assert.deepEqual(
      bindsOf(composition),
      ['etc', 'proc', 'run', 'srv', 'tmp', 'usr', 'var', 'vmlinuz', 'data'].map((name) => `/${name} /${name}`),
    )
    assert.deepEqual(composition.links, [{ at: '/bin', target: 'usr/bin' }])
    assert.deepEqual(composition.files, ['/vmlinuz'])
  })

  it('has a mount where there is nothing, without taking more apart than it must', () => {
    assert.deepEqual(
      bindsOf(compose([mount('a', '/new/deep')])).filter((bind) => bind.includes('/new')),
      ['/data/volumes/a /new/deep'],
    )
    const composition = compose([mount('a', '/etc/config', true)])
    assert.deepEqual(
      bindsOf(composition).filter((bind) => bind.includes('/etc')),
      ['/etc/passwd /etc/passwd', '/etc/ssl /etc/ssl', '/data/volumes/a /etc/config ro'],
    )
    assert.ok(composition.links.some(({ at, target }) => at === '/etc/alternatives.link' && target === '../usr'))
    assert.deepEqual(
      composition.directories.find(({ at }) => at === '/etc'),
      { at: '/etc', like: '/etc' },
    )
  })

  it('has a mount over what is there, after it', () => {
    assert.deepEqual(bindsOf(compose([mount('a', '/srv/www')])).slice(-2), ['/data /data', '/data/volumes/a /srv/www'])
    assert.ok(bindsOf(compose([mount('a', '/tmp')])).includes('/data/volumes/a /tmp'))
    assert.ok(!bindsOf(compose([mount('a', '/tmp')])).includes('/tmp /tmp'))
    assert.ok(bindsOf(compose([mount('f', '/etc/passwd')])).includes('/data/volumes/f /etc/passwd'))
  })

  it('follows links of this machine to the place of a mount', () => {
    assert.ok(bindsOf(compose([mount('a', '/var/run/secrets/x')])).includes('/data/volumes/a /run/secrets/x'))
    assert.ok(bindsOf(compose([mount('a', '/bin/sub')])).includes('/data/volumes/a /usr/bin/sub'))
    assert.ok(bindsOf(compose([mount('a', '/etc/alternatives.link/x')])).includes('/data/volumes/a /usr/x'))
  })

  it('has mounts inside mounts: what is missing is made in a volume of ours, and nowhere else', () => {
    const inner = compose([mount('b', '/v/inner'), mount('a', '/v')])
    assert.deepEqual(bindsOf(inner).slice(-2), ['/data/volumes/a /v', '/data/volumes/b /v/inner'])
    assert.deepEqual(inner.inVolumes, [])
    assert.deepEqual(compose([mount('b', '/v/fresh'), mount('a', '/v')]).inVolumes, [{ path: '/data/volumes/a/fresh', kind: 'directory' }])
    assert.deepEqual(compose([mount('b', '/srv/www/x'), mount('a', '/srv/www')]).inVolumes, [
      { path: '/data/volumes/a/x', kind: 'directory' },
    ])
    const foreign: Mount = { source: '/srv', path: '/v', readOnly: false }
    assert.throws(() => compose([foreign, mount('b', '/v/fresh')]), /make it there/)
  })

  it('has the working directory, made where there is none', () => {
    assert.ok(compose([], { workingDir: '/work/here' }).directories.some(({ at }) => at === '/work/here'))
    assert.deepEqual(compose([mount('a', '/v')], { workingDir: '/v/w' }).inVolumes, [{ path: '/data/volumes/a/w', kind: 'directory' }])
    assert.deepEqual(compose([], { workingDir: '/usr/share' }), { ...compose([]), workingDir: '/usr/share' })
    assert.equal(compose([], { workingDir: '/var/run/lock/x' }).workingDir, '/run/lock/x')
    assert.equal(compose([]).workingDir, '/')
  })

  it('says what cannot be', () => {
    assert.throws(() => compose([mount('a', '/')]), /nothing can be mounted at \//)
    assert.throws(() => compose([mount('missing', '/x')]), /is not there/)
    assert.throws(() => compose([mount('f', '/tmp')]), /a file cannot be mounted at \/tmp, where a directory is/)
    assert.throws(() => compose([mount('a', '/vmlinuz/x')]), /leads through a file/)
    assert.throws(() => compose([mount('a', '/x/../y')]), /must not hold/)
  })

  it('makes nothing in the base, whatever is mounted where', () => {
    const parts = fc.constantFrom('etc', 'srv', 'www', 'site', 'var', 'run', 'new', 'bin', 'tmp', 'usr', 'share', 'proc', 'config')
    const mounts = fc.array(fc.tuple(fc.array(parts, { minLength: 1, maxLength: 4 }), fc.constantFrom('a', 'b', 'a/inner')), {
      maxLength: 6,
    })
    fc.assert(
      fc.property(mounts, (asked) => {
        let composition: Composition
        try {
          composition = compose(asked.map(([at, source]) => mount(source, `/${at.join('/')}`)))
        } catch (error) {
          assert.ok(error instanceof CompositionError, String(error))
          return
        }
        for (const { path: made } of composition.inVolumes) assert.ok(made.startsWith('/data/volumes/'))
        // Every bind has a mount point: created in the skeleton, or present in what was bound before it.
        const points = new Set([...composition.directories.map(({ at }) => at), ...composition.files])
        const view = viewOf(MACHINE)
        const made = new Set(composition.inVolumes.map((one) => one.path))
        for (const [i, bind] of composition.binds.entries()) {
          // The innermost, and of several in one place the last, which hides the others.
          const holder = composition.binds
            .slice(0, i)
            .reverse()
            .filter((other) => bind.at.startsWith(`${other.at}/`))
            .sort((x, y) => y.at.length - x.at.length)[0]
          const inside = holder === undefined ? undefined : path.join(holder.source, bind.at.slice(holder.at.length))
          assert.ok(
            points.has(bind.at) || (inside !== undefined && (view.kindOf(inside) !== undefined || made.has(inside))),
            `${bind.at} of ${JSON.stringify(asked)}`,
          )
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('a mount table', () => {
  it('escapes names, and keeps what a user namespace may not drop', () => {
    const flags = parseMountInfo(
      '1 2 0:1 / / rw,relatime shared:1 - ext4 /dev/x rw\n3 1 0:2 / /my\\040home rw,nosuid,nodev - ext4 /dev/y rw\nnonsense\n',
    )
    const binds = [
      { source: '/my home/v', at: '/a b', readOnly: true },
      { source: '/etc', at: '/etc', readOnly: false, isOptional: true as const },
    ]
    assert.equal(
      mountTable('/root dir', binds, { ownProc: true, flags }),
      [
        'proc /root\\040dir/proc proc nosuid,nodev,noexec 0 0',
        '/my\\040home/v /root\\040dir/a\\040b none rbind,ro,nosuid,nodev 0 0',
        '/etc /root\\040dir/etc none rbind,nofail 0 0',
        '',
      ].join('\n'),
    )
  })
})
