import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { uncovered } from './coverage.ts'
import { describeRules, type PolicyRule, readRules } from './rules.ts'

const many = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
const rule = (fields: Partial<PolicyRule>): PolicyRule => readRules([fields])[0] as PolicyRule

/** The same by definition: every combination on its own. */
function oneByOne(held: readonly PolicyRule[], { verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string[] {
  const has = (set: readonly string[], value: string): boolean => set.includes('*') || set.includes(value)
  const hasPath = (set: readonly string[], path: string): boolean =>
    set.some((one) => one === path || (one.endsWith('*') && path.startsWith(one.replace(/\*+$/, ''))))
  const hasResource = (set: readonly string[], resource: string): boolean =>
    has(set, resource) || (resource.includes('/') && set.includes(`*/${resource.slice(resource.indexOf('/') + 1)}`))
  const missing: string[] = []
  for (const verb of verbs) {
    for (const group of apiGroups)
      for (const resource of resources)
        for (const name of resourceNames.length === 0 ? [undefined] : resourceNames) {
          const isHeld = held.some(
            (one) =>
              has(one.verbs, verb) &&
              has(one.apiGroups, group) &&
              hasResource(one.resources, resource) &&
              (one.resourceNames.length === 0 || (name !== undefined && one.resourceNames.includes(name))),
          )
          if (!isHeld) missing.push(JSON.stringify([verb, group, resource, name]))
        }
    for (const url of nonResourceURLs)
      if (!held.some((one) => has(one.verbs, verb) && hasPath(one.nonResourceURLs, url) && one.resourceNames.length === 0))
        missing.push(JSON.stringify([verb, url]))
  }
  return [...new Set(missing)].sort()
}

const combinationsOf = (products: readonly PolicyRule[]): string[] => [...new Set(products.flatMap((one) => oneByOne([], one)))].sort()

describe('what some rules do not grant of others', () => {
  const words = (...some: string[]) => fc.uniqueArray(fc.constantFrom(...some), { maxLength: 4 })
  const anyRule = fc
    .record({
      verbs: words('get', 'list', 'watch', '*'),
      apiGroups: words('', 'apps', 'batch', '*'),
      resources: words('pods', 'pods/log', 'jobs/log', '*/log', '*'),
      resourceNames: words('a', 'b', 'c'),
      nonResourceURLs: words('/', '/a', '/a/*', '/a/b', '/a/b**', '/ab', '*'),
    })
    .map(rule)

  it('is what it is, combination by combination', () => {
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 6 }), anyRule, (held, wanted) => {
        const { missing, isCompared } = uncovered(held, [wanted])
        assert.ok(isCompared)
        assert.deepEqual(combinationsOf(missing), oneByOne(held, wanted))
      }),
      { numRuns: 5000 },
    )
  })

  it('is never too little, however small the budget', () => {
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 6 }), anyRule, fc.nat(60), (held, wanted, budget) => {
        const { missing, isCompared } = uncovered(held, [wanted], budget)
        const found = new Set(combinationsOf(missing))
        for (const one of oneByOne(held, wanted)) assert.ok(found.has(one), one)
        if (isCompared) assert.equal(found.size, oneByOne(held, wanted).length)
      }),
      { numRuns: 2000 },
    )
  })

  it('paths are found among any patterns', () => {
    const path = fc.array(fc.constantFrom('/', 'a', 'b', '*', '-', 'é'), { maxLength: 5 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(path, { maxLength: 8 }), fc.array(path, { maxLength: 8 }), (patterns, wanted) => {
        const [held, asked] = [rule({ verbs: ['get'], nonResourceURLs: patterns }), rule({ verbs: ['get'], nonResourceURLs: wanted })]
        assert.deepEqual(combinationsOf(uncovered([held], [asked]).missing), oneByOne([held], asked))
      }),
      { numRuns: 2000 },
    )
  })
})

/** Counts how often a rule's lists are walked, whoever does it. */
function counted(fields: Partial<PolicyRule>, count: { steps: number }): PolicyRule {
  const watched = (values: readonly string[]): readonly string[] =>
    new Proxy(values, {
      get(target, key, receiver) {
        if (typeof key === 'string' && /^[0-9]+$/.test(key)) count.steps++
        return Reflect.get(target, key, receiver)
      },
    })
  return Object.fromEntries(Object.entries(rule(fields)).map(([field, values]) => [field, watched(values)])) as unknown as PolicyRule
}

describe('a rule of many values', () => {
  const product = (size: number): Partial<PolicyRule> => ({
    verbs: many('v', size),
    apiGroups: many('g', size),
    resources: many('r', size),
    resourceNames: many('n', size),
  })

  it('costs the sum of its values, not their product, granted or not', () => {
    const stepsFor = (size: number, held: Partial<PolicyRule>): number => {
      const count = { steps: 0 }
      uncovered([rule(held)], [counted(product(size), count)])
      return count.steps
    }
    for (const held of [{}, product(40), { ...product(4000), verbs: ['*'] }, { ...product(60), verbs: ['other'] }]) {
      const [once, twice] = [stepsFor(60, held), stepsFor(120, held)]
      assert.ok(once <= 60 * 8 && twice <= once * 2 + 8, `${once} and ${twice}`)
    }
  })

  it('is refused when the rights that are held are cut into too many pieces to compare', () => {
    const pieces = Array.from({ length: 400 }, (_, i) =>
      rule({
        ...product(300),
        ...Object.fromEntries(
          (['apiGroups', 'resources', 'verbs'] as const).map((field, d) => [
            field,
            product(300)[field]?.filter((_value, v) => ((v * 7 + i * (d + 3)) & 3) !== 0),
          ]),
        ),
      }),
    )
    const { missing, isCompared } = uncovered(pieces, [rule(product(300))])
    assert.equal(isCompared, false)
    assert.notEqual(missing.length, 0)
  })

  it('is described in a hundred lines, with the number of the others', () => {
    const { missing } = uncovered([], [rule(product(60)), rule({ verbs: many('v', 60), nonResourceURLs: many('/', 60) })])
    const lines = describeRules(missing)
    assert.equal(lines.length, 101)
    assert.equal(lines.at(-1), `and ${60 ** 3 + 60 ** 2 - 100} more`)
    for (const line of lines.slice(0, -1))
      assert.match(line, /^\{APIGroups:\["g\d+"\], Resources:\["r\d+"\], ResourceNames:\["n\d+"\], Verbs:\["v0" .* "v59"\]\}$/)
  })

  it('is described in few characters, however long its values are', () => {
    const long = many('x'.repeat(20_000), 20)
    for (const fields of [
      { verbs: ['get'], apiGroups: long, resources: long },
      { verbs: long, nonResourceURLs: long },
    ]) {
      const text = describeRules([rule(fields)]).join('\n')
      assert.ok(text.length < 100_000, `${text.length}`)
      assert.match(text, /and \d+ more$/)
    }
  })
})
