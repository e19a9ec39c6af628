import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  isUser,
  LARGEST_CONTRACT_FILE,
  LONGEST_STATE_MESSAGE,
  parseRequest,
  parseVolumeState,
  REQUEST_ID,
  requestIdOf,
  requestText,
  stateText,
  type VolumeState,
  volumePlaces,
} from './materialised-volume.ts'

const ID = requestIdOf('/images')
const READY: Omit<VolumeState, 'directory'> = {
  ...{ subPath: '/images', state: 'ready', generation: 3 },
  ...{ doneBytes: 5, totalBytes: 5, doneFiles: 1, totalFiles: 1 },
}
const count = fc.oneof(fc.nat(), fc.maxSafeNat())
const states = fc.record({
  subPath: fc.string({ unit: 'binary', maxLength: 300 }),
  state: fc.constantFrom('filling' as const, 'ready' as const, 'waiting' as const),
  message: fc.string({ maxLength: LONGEST_STATE_MESSAGE }),
  doneBytes: count,
  totalBytes: count,
  doneFiles: count,
  totalFiles: count,
  generation: fc.nat({ max: 999_999_999 }),
})

describe('a state of a volume', () => {
  it('is read as it was written', () =>
    fc.assert(
      fc.property(states, (state) => {
        const id = requestIdOf(state.subPath)
        const { directory, ...rest } = parseVolumeState(stateText(id, state), id) ?? {}
        assert.deepEqual(rest, { ...state })
        assert.equal(directory, state.generation === 0 ? undefined : `generations/${id}/${state.generation}`)
      }),
    ))

  it('that is torn at any place is none', () => {
    const text = stateText(ID, READY)
    for (let length = 0; length < text.length; length++) assert.equal(parseVolumeState(text.slice(0, length), ID), undefined)
  })

  it('leads to its own directory only, whatever is written into it', () =>
    fc.assert(
      fc.property(
        fc.constantFrom('subPath', 'state', 'message', 'doneBytes', 'totalFiles', 'generation', 'directory', '__proto__', 'other'),
        fc.jsonValue(),
        (key, value) => {
          const written: unknown = { ...(JSON.parse(stateText(ID, READY)) as object), ...Object.fromEntries([[key, value]]) }
          const state = parseVolumeState(JSON.stringify(written), ID)
          if (state === undefined) return
          assert.match(state.directory ?? `generations/${ID}/${state.generation}`, new RegExp(`^generations/${ID}/\\d+$`))
          assert.ok([state.doneBytes, state.totalFiles, state.generation].every((one) => Number.isSafeInteger(one) && one >= 0))
        },
      ),
    ))

  it('of any text is a state or none, and never throws', () =>
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => assert.equal(parseVolumeState(text, ID), undefined)),
    ))

  const altered = (change: object): string => JSON.stringify({ ...(JSON.parse(stateText(ID, READY)) as object), ...change })
  const cases: [string, string][] = [
    ['a directory of another request', altered({ directory: `generations/${requestIdOf('/')}/3` })],
    ['another generation than it says', altered({ directory: `generations/${ID}/4` })],
    ['a directory that climbs', altered({ directory: `generations/${ID}/3/../../..` })],
    ['an absolute directory', altered({ directory: '/etc' })],
    ['no directory', altered({ directory: undefined })],
    ['a directory without a generation', altered({ generation: 0 })],
    ['another sub path', altered({ subPath: '/' })],
    ['an unknown state', altered({ state: 'done' })],
    ['a negative count', altered({ doneBytes: -1 })],
    ['a count as text', altered({ doneBytes: '1' })],
    ['a generation that no directory has', altered({ generation: 1e9, directory: `generations/${ID}/1000000000` })],
    ['a message that is none', altered({ message: {} })],
    ['a message without end', altered({ message: 'x'.repeat(LONGEST_STATE_MESSAGE + 1) })],
    ['more than fits', `${altered({})}${' '.repeat(LARGEST_CONTRACT_FILE)}`],
    ['a list', `[${altered({})}]`],
    ['null', 'null'],
  ]
  for (const [name, text] of cases) it(`with ${name} is none`, () => assert.equal(parseVolumeState(text, ID), undefined))

  it('can be read whatever sizes a source claims', () => {
    const huge = { ...READY, totalBytes: 2e6 * 9e15, doneBytes: 1e30, totalFiles: Number.POSITIVE_INFINITY }
    const { totalBytes, doneBytes, totalFiles } = parseVolumeState(stateText(ID, huge), ID) ?? {}
    assert.deepEqual([totalBytes, doneBytes, totalFiles], Array(3).fill(Number.MAX_SAFE_INTEGER))
  })

  it('is never too long to be read', () => {
    const long = { ...READY, subPath: `/${'\u0001'.repeat(4094)}`, message: '\u0001'.repeat(1e6) }
    const id = requestIdOf(long.subPath)
    assert.equal(parseVolumeState(stateText(id, long), id)?.message?.length, LONGEST_STATE_MESSAGE)
  })
})

describe('the meeting of driver and client', () => {
  it('has an id for each sub path', () => {
    assert.match(ID, REQUEST_ID)
    assert.notEqual(ID, requestIdOf('/'))
    assert.equal(parseRequest(requestText('/a "b"')), '/a "b"')
    for (const text of ['', '{', '[]', '{}', '{"subPath":1}', '{"__proto__":{"subPath":"/"}}']) assert.equal(parseRequest(text), undefined)
  })

  it('has its places in one directory', () => {
    const places = volumePlaces('/r')
    assert.deepEqual(
      [places.request('i'), places.stateFile('i'), places.generation('i', 2), places.users('i', 2), places.allUsers('i')],
      ['/r/requests/i.json', '/r/states/i.json', '/r/generations/i/2', '/r/users/i/2', '/r/users/i'],
    )
    assert.deepEqual(['0b1e-uid', '0b1e-uid.new'].map(isUser), [true, false])
  })
})
