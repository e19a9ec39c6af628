import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { ANSWER_BYTES, infosOf, parseFigures, withoutProgress } from './figures.ts'

const answer = {
  operation: 'migrate',
  step: 'copying',
  bytesDone: 123,
  bytesTotal: 456,
  filesDone: 1,
  filesTotal: 4,
  isTotalKnown: true,
  bytesPerSecond: 99,
  secondsLeft: 4,
}
const parsed = (more: object) => parseFigures(JSON.stringify({ ...answer, ...more }))
const NAMES = ['step', 'bytesDone', 'bytesTotal', 'filesDone', 'filesTotal', 'bytesPerSecond', 'secondsLeft', 'message']

describe('what a program says of its progress', () => {
  it('is shown in figures', () => {
    assert.deepEqual(infosOf(parsed({ message: 'waits for\n the master' })), {
      ...{ step: 'copying', bytesDone: '123', bytesTotal: '456', filesDone: '1', filesTotal: '4' },
      ...{ bytesPerSecond: '99', secondsLeft: '4', message: 'waits for the master' },
    })
  })
  it('has no totals while they grow, or when they are less than what is done', () => {
    for (const more of [{ isTotalKnown: false }, { bytesTotal: 122, filesTotal: 0 }]) {
      const { bytesTotal, filesTotal, bytesDone } = parsed(more)
      assert.deepEqual([bytesTotal, filesTotal, bytesDone], [undefined, undefined, 123])
    }
  })
  it('is left out where it makes no sense', () => {
    const { step, secondsLeft, bytesPerSecond, message } = parsed({ step: 5, secondsLeft: null, bytesPerSecond: -1, message: '' })
    assert.deepEqual([step, secondsLeft, bytesPerSecond, message], [undefined, undefined, undefined, undefined])
    assert.equal(parsed({ step: 'x'.repeat(100) }).step?.length, 32)
  })
  it('says at least how much is done', () => {
    for (const text of ['', '<html>', '[]', 'null', '{}', '{"bytesDone":1.5,"filesDone":1}', '{"bytesDone":"1","filesDone":1}'])
      assert.throws(() => parseFigures(text), /^Error: the progress /)
    assert.throws(() => parsed({ message: 'x'.repeat(ANSWER_BYTES) }), /more than 4096 bytes/)
  })
  it('leaves other infos alone', () => {
    assert.deepEqual(withoutProgress({ ...infosOf(parsed({})), progress: 'not known', waiting: 'w', BackupLocationPath: 'p' }), {
      waiting: 'w',
      BackupLocationPath: 'p',
    })
  })
})

const anyFigures = fc.record(
  Object.fromEntries(
    [...Object.keys(answer), 'message', '__proto__'].map((name) => [
      name,
      fc.oneof(fc.nat(), fc.double(), fc.string({ maxLength: 600, unit: 'binary' }), fc.boolean(), fc.constant(null), fc.jsonValue()),
    ]),
  ),
  { requiredKeys: ['bytesDone', 'filesDone'] },
)

describe('whatever answers', () => {
  it('gives short lines of known names, or one kind of error', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.json(),
          anyFigures.map((figures) => JSON.stringify(figures)),
        ),
        (text) => {
          let infos: Record<string, string>
          try {
            infos = infosOf(parseFigures(text))
          } catch (error) {
            assert.match(String(error), /^Error: the progress /)
            return
          }
          for (const [name, value] of Object.entries(infos)) {
            assert.ok(NAMES.includes(name))
            assert.ok(value !== '' && value.length <= 300 && !/[\p{Cc}\p{Cf}]/u.test(value), name)
            if (name !== 'step' && name !== 'message') assert.match(value, /^\d{1,16}$/)
          }
        },
      ),
      { numRuns: 1000 },
    )
  })
})
