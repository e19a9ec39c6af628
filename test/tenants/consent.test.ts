/** Every field and key that can name something of another namespace: with the consent of its owner, without, and withdrawn. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ATTEMPTS, type Attempt, THEIRS } from './attempts.ts'
import { type Consent, type Plan, play, type Seen } from './play.ts'

const theirs = ({ namespaces }: Seen): readonly string[] => namespaces.get(THEIRS) ?? []
const of = (role: Attempt['role']): Attempt[] => ATTEMPTS.filter((attempt) => attempt.role === role)
const isEntry = ({ entry }: Attempt): boolean => entry !== undefined

/** What is in one list and not in the other: neither is short. */
const difference = (some: readonly string[], others: readonly string[]) => ({
  more: some.filter((one) => !others.includes(one)),
  less: others.filter((one) => !some.includes(one)),
})
const SAME = { more: [], less: [] }

function expectSame(attempts: readonly Attempt[], one: Seen, other: Seen): void {
  for (const { name, mayDiffer } of attempts)
    if (mayDiffer !== true) assert.deepEqual(difference(one.namespaces.get(name) ?? [], other.namespaces.get(name) ?? []), SAME, name)
  assert.deepEqual([...one.refusals], [...other.refusals])
}

/** Lines without what only tells the owner that somebody lost consent. */
const withoutReport = (lines: readonly string[]): string[] =>
  lines
    .filter((line) => !line.includes('"reason":"ConsentWithdrawn"'))
    .map((line) =>
      line.replace(
        /,?\{"lastTransitionTime":"TIME","lastUpdateTime":"TIME","message":"[^"]*","reason":"[^"]*","status":"True","type":"ConsentWithdrawn"\}/,
        '',
      ),
    )

for (const role of ['member', 'hub'] as const)
  describe(`what a tenant writes on a ${role}`, () => {
    const attempts = of(role)
    const played = new Map<string, Promise<Seen>>()
    const seen = (consent: Consent, more: Partial<Plan> = {}): Promise<Seen> => {
      const key = JSON.stringify([consent, more])
      const known = played.get(key) ?? play({ role, consent, ...more })
      played.set(key, known)
      return known
    }

    it('reaches nothing without consent, and is the same whether there is anything', async () => {
      const all = await seen('withheld')
      for (const { name, entry } of attempts.filter(isEntry)) assert.notEqual(all.phases.get(name), entry?.phase, name)
      expectSame(attempts, all, await seen('withheld', { hasOriginal: false }))
      assert.deepEqual(difference(theirs(all), theirs(await seen('withheld', { attempts: 'none' }))), SAME)
    })

    it('reaches with consent what it was given for, without credentials; all else reaches nothing', async () => {
      const all = await seen('given')
      for (const { name, entry } of attempts.filter(isEntry)) assert.equal(all.phases.get(name), entry?.phase, name)
      for (const { name } of attempts)
        for (const line of all.namespaces.get(name) ?? []) assert.ok(!line.includes('open-sesame'), `${name}: ${line}`)
      expectSame(
        attempts.filter((attempt) => !isEntry(attempt)),
        all,
        await seen('given', { hasOriginal: false }),
      )
      assert.deepEqual(difference(theirs(all), theirs(await seen('given', { attempts: 'entries' }))), SAME)
    })

    it('reaches nothing any more when consent is withdrawn, and does not show whether the original is still there', async () => {
      const all = await seen('withdrawn')
      for (const { name, entry } of attempts.filter(isEntry)) assert.notEqual(all.phases.get(name), entry?.phase, name)
      expectSame(attempts, all, await seen('withdrawn', { losesOriginal: true }))
      const none = await seen('withdrawn', { attempts: 'none' })
      assert.deepEqual(difference(withoutReport(theirs(all)), withoutReport(theirs(none))), SAME)
    })

    it('is refused at once where it can never be meant', async () => {
      const { refusals } = await seen('given')
      for (const { name, objects, refusal } of attempts)
        if (refusal !== undefined) {
          assert.equal(refusals.get(name)?.length, objects.length, name)
          for (const message of refusals.get(name) ?? []) assert.match(message, refusal)
        }
    })
  })
