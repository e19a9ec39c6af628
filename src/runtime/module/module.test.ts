import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../../base/random.ts'
import { CONFIG_MAPS } from '../../kinds/kubernetes/resources.ts'
import { parsed, unparsed } from '../../kube/parsed.ts'
import { defineController, NOTHING_TO_DO } from '../controller.ts'
import { configure, optionsIn } from './configure.ts'
import { type FlagCommand, keyOfFlag, nameOfFlag, numberFlag } from './flags.ts'
import { defineModule, FlagError, type Module } from './module.ts'

interface Options {
  size: number
  names: readonly string[]
}

const FILES = { resolve: (path: string) => path, read: async () => undefined, exists: async () => false }

const controller = (name: string, of: () => unknown) =>
  defineController({
    name,
    for: CONFIG_MAPS,
    writes: [{ resource: CONFIG_MAPS, verbs: ['patch'] }],
    observe: () => of(),
    plan: () => NOTHING_TO_DO,
  })

const sample = defineModule<Options, { answer(): number }>({
  name: 'sample',
  roles: ['hub'],
  upstreamLeases: [],
  defaults: { size: 1, names: [] },
  flags: [
    numberFlag({ flag: '--size <n>', about: 'how large (default 1)', least: 1, set: (options, size) => ({ ...options, size }) }),
    {
      flag: '--name <name>',
      about: 'one of them',
      on: ['up'],
      isRepeatable: true,
      read: (text, options) => (text === '' ? unparsed('--name takes a name') : parsed({ ...options, names: [...options.names, text] })),
    },
  ],
  services: (_env, { size }) => ({ answer: () => size }),
  controllers: ({ answer }, { names }) => [controller('sample', answer), ...names.map((name) => controller(name, answer))],
})

describe('a module', () => {
  it('lists its controllers without a service', () => {
    assert.deepEqual(
      sample
        .with({ names: ['other'] })
        .declaredControllers()
        .map(({ name }) => name),
      ['sample', 'other'],
    )
  })

  it('is told when it uses a service in a declaration', () => {
    const eager = defineModule<Record<string, never>, { answer(): string }>({
      name: 'eager',
      roles: ['hub'],
      upstreamLeases: [],
      defaults: {},
      services: () => ({ answer: () => 'x' }),
      controllers: ({ answer }) => [controller(answer(), answer)],
    })
    assert.throws(() => eager.declaredControllers(), /the services of eager\.answer is called while declarations are listed/)
  })

  it('reads the flags of a command into its options, each in turn, and leaves itself as it was', async () => {
    const read = (await sample.withFlags('up', { '--size': ['3'], '--name': ['a', 'b'] }, FILES)) as typeof sample
    assert.deepEqual(read.options, { size: 3, names: ['a', 'b'] })
    assert.deepEqual(sample.options, { size: 1, names: [] })
    const other = (await sample.withFlags('controllers', { '--name': ['a'] }, FILES)) as typeof sample
    assert.deepEqual(other.options.names, [], 'a flag of another command')
  })

  describe('whose defaults differ by command', () => {
    interface Consent {
      mode?: string
      size: number
    }
    const differing = defineModule<Consent, object>({
      name: 'differing',
      roles: ['hub'],
      upstreamLeases: [],
      defaults: { size: 1 },
      commandDefaults: { controllers: { mode: 'strict', size: 9 } },
      kept: { key: 'differing', restore: (options, kept) => ({ ...options, mode: kept as string | undefined }), value: ({ mode }) => mode },
      flags: [{ flag: '--mode <mode>', about: 'how', read: (text, options) => parsed({ ...options, mode: `${options.mode}+${text}` }) }],
      services: () => ({}),
      controllers: () => [],
    })
    const optionsOf = async (module: Module, command: FlagCommand, texts = {}) =>
      ((await module.withFlags(command, texts, FILES)) as typeof differing).options

    it('takes those of its command, where nothing else says otherwise', async () => {
      assert.deepEqual(await optionsOf(differing, 'controllers'), { mode: 'strict', size: 1 })
      assert.deepEqual(await optionsOf(differing, 'up'), { size: 1 })
      assert.deepEqual(differing.options, { size: 1 })
    })

    it('keeps what a caller has set and what was stored; a flag comes last', async () => {
      assert.equal((await optionsOf(differing.with({ mode: 'mine' }), 'controllers')).mode, 'mine')
      const restored = (kept: unknown) => differing.kept?.restored(kept, seededRandom(1)) ?? differing
      assert.equal((await optionsOf(restored('stored'), 'controllers')).mode, 'stored')
      assert.equal((await optionsOf(restored(undefined), 'controllers')).mode, 'strict', 'stored by an older build')
      assert.equal((await optionsOf(differing, 'controllers', { '--mode': ['given'] })).mode, 'strict+given')
    })

    it('keeps them when it is asked again', async () => {
      const once = await differing.withFlags('controllers', { '--mode': ['given'] }, FILES)
      assert.equal((await optionsOf(once, 'controllers')).mode, 'strict+given')
    })
  })

  it('refuses a flag with a sentence that names it', async () => {
    await assert.rejects(sample.withFlags('up', { '--size': ['0'] }, FILES), (error) => {
      assert.ok(error instanceof FlagError)
      assert.equal(error.message, '--size takes a number from 1 to 1000000, not "0"')
      return true
    })
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        try {
          const { options } = (await sample.withFlags('up', { '--size': [text] }, FILES)) as typeof sample
          assert.ok(options.size >= 1 && options.size <= 1_000_000, text)
        } catch (error) {
          assert.ok(error instanceof FlagError && error.message.startsWith('--size takes a number'), String(error))
        }
      }),
    )
  })

  it('can be configured in a list, whatever else is in it', () => {
    const modules = configure(configure([sample], sample, { size: 5 }), sample, { names: ['x'] })
    assert.deepEqual(optionsIn(modules, sample), { size: 5, names: ['x'] })
    assert.equal(optionsIn([], sample), undefined)
  })
})

describe('a flag', () => {
  it('has a name, and the key under which the command line keeps it', () => {
    assert.deepEqual(
      [nameOfFlag({ flag: '--toy-suffix <text>' }), keyOfFlag({ flag: '--toy-suffix <text>' })],
      ['--toy-suffix', 'toySuffix'],
    )
  })
})
