import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { applyPatch, type Operation } from 'rfc6902'
import { deepClone } from '../../base/json.ts'
import { type Admission, type AdmissionReader, defineAdmission, type Right } from '../../kinds/admission.ts'
import type { UserInfo } from '../../kinds/kind.ts'
import { invalid } from '../../kube/field-error.ts'
import { forbiddenError } from '../../kube/status.ts'
import { runPlacement } from '../../minicluster/admission/run-placement.ts'
import { asAdmission } from '../seams/pod-admission.ts'
import { type AdmissionReview, reviewAdmission } from './admission-review.ts'
import { webhookHandle } from './handle.ts'

const NOTHING: AdmissionReader = { get: () => undefined, list: () => [] }
const EVERYWHERE = { resources: [{ group: '*', resource: '*' }], operations: ['CREATE', 'UPDATE', 'DELETE'] as const }
const PLAYED = { hasProcessNodes: true, isMapped: () => false, resolves: () => true }

const reviewOf = (object: unknown, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'r1',
    kind: { group: 'example.dev', version: 'v1', kind: 'Thing' },
    resource: { group: 'example.dev', version: 'v1', resource: 'things' },
    operation: 'CREATE',
    namespace: 'default',
    name: 'a',
    userInfo: { username: 'ann', uid: '1', groups: ['people', 7] },
    object,
    ...more,
  },
})

const newUid = (): string => 'a-uid'

const isAnn = async ({ name }: UserInfo, { verb }: Right): Promise<boolean> => name === 'ann' && verb === 'get'

const judged = (admission: Admission, phase: 'mutate' | 'validate', body: unknown): Promise<AdmissionReview> =>
  reviewAdmission(body, { admission, phase, read: NOTHING, hasRight: isAnn, nowMs: 5, newUid })

function patchedBy({ response }: AdmissionReview, object: unknown): unknown {
  const copy = deepClone(object)
  if (response.patch === undefined) return copy
  assert.equal(response.patchType, 'JSONPatch')
  const results = applyPatch(copy, JSON.parse(Buffer.from(response.patch, 'base64').toString('utf8')) as Operation[])
  assert.deepEqual(
    results.filter((result) => result !== null),
    [],
  )
  return copy
}

/** The library refuses these keys; the server does not, and neither do we. */
const isApplicable = (value: unknown): boolean => !/"(__proto__|constructor|prototype)"/.test(JSON.stringify(value) ?? '')
const json = fc.jsonValue({ maxDepth: 4 }).filter(isApplicable) as fc.Arbitrary<unknown>
const key = fc.oneof(fc.constantFrom('spec', 'metadata', 'status', 'a/b', '~', '~1', ''), fc.string({ maxLength: 4 })).filter(isApplicable)
const object = fc.dictionary(key, fc.oneof(json, fc.dictionary(key, json, { maxKeys: 5 })), { maxKeys: 6 }).filter(isApplicable)

describe('an admission review', () => {
  it('answers with a patch that gives exactly the object that the admission made', async () => {
    await fc.assert(
      fc.asyncProperty(object, object, async (before, after) => {
        const wire = JSON.parse(JSON.stringify({ ...before, metadata: { name: 'a' } })) as Record<string, unknown>
        const wanted = JSON.parse(JSON.stringify({ ...after, metadata: { name: 'a', labels: { a: '1' } } })) as Record<string, unknown>
        const admission = defineAdmission({
          name: 'Any',
          ...EVERYWHERE,
          mutate(request) {
            if (request.object === undefined) return
            for (const one of Object.keys(request.object)) delete request.object[one]
            Object.assign(request.object, deepClone(wanted))
          },
        })
        assert.deepEqual(patchedBy(await judged(admission, 'mutate', reviewOf(deepClone(wire))), wire), wanted)
      }),
      { numRuns: 500 },
    )
  })

  it('patches an object as it came, even one without metadata', async () => {
    const admission = defineAdmission({
      name: 'Labels',
      ...EVERYWHERE,
      mutate({ object: of }) {
        if (of !== undefined) of.metadata.labels = { ...of.metadata.labels, seen: 'yes' }
      },
    })
    for (const wire of [{ spec: 1 }, { metadata: null }, { metadata: { labels: { a: 'b' } } }]) {
      const made = patchedBy(await judged(admission, 'mutate', reviewOf(deepClone(wire))), wire) as { metadata: { labels: object } }
      assert.equal((made.metadata.labels as { seen?: string }).seen, 'yes')
    }
  })

  it('has no patch when nothing was changed, and none from a judge', async () => {
    const meddling = defineAdmission({
      name: 'Meddling',
      ...EVERYWHERE,
      validate({ object: of }) {
        if (of !== undefined) of.metadata.labels = { changed: 'yes' }
        return undefined
      },
    })
    const wire = { metadata: { name: 'a' } }
    const quiet = await judged(defineAdmission({ name: 'Quiet', ...EVERYWHERE, mutate: () => undefined }), 'mutate', reviewOf(wire))
    for (const review of [quiet, await judged(meddling, 'validate', reviewOf(wire))])
      assert.deepEqual(review.response, { uid: 'r1', allowed: true })
  })

  it('gives the admission the request as it is', async () => {
    let seen: unknown
    const admission = defineAdmission({
      name: 'Seeing',
      ...EVERYWHERE,
      mutate(request, { nowMs }) {
        seen = { ...request, nowMs }
      },
    })
    const old = { metadata: { name: 'a' } }
    const options = { kind: 'DeleteOptions' }
    await judged(admission, 'mutate', reviewOf(null, { operation: 'DELETE', oldObject: old, dryRun: true, options, subResource: 'scale' }))
    assert.deepEqual(seen, {
      operation: 'DELETE',
      group: 'example.dev',
      version: 'v1',
      kind: 'Thing',
      resource: 'things',
      subresource: 'scale',
      namespace: 'default',
      name: 'a',
      object: undefined,
      oldObject: old,
      user: { name: 'ann', uid: '1', groups: ['people'] },
      dryRun: true,
      options,
      nowMs: 5,
    })
  })

  it('refuses with the whole Status, and carries warnings either way', async () => {
    const strict = defineAdmission({
      name: 'Strict',
      ...EVERYWHERE,
      mutate(_request, { warn }) {
        warn('w'.repeat(300))
        throw forbiddenError({ group: 'example.dev', resource: 'things' }, 'a', 'not today')
      },
      validate(_request, { warn }) {
        warn('careful')
        return [invalid('spec.size', 7, 'must be even')]
      },
    })
    const denied = (await judged(strict, 'mutate', reviewOf({ metadata: {} }))).response
    assert.deepEqual([denied.allowed, denied.status?.code, denied.status?.reason], [false, 403, 'Forbidden'])
    assert.match(denied.status?.message ?? '', /things\.example\.dev "a" is forbidden: not today/)
    assert.deepEqual(denied.warnings, ['w'.repeat(256)])
    const wrong = (await judged(strict, 'validate', reviewOf({ metadata: {} }))).response
    assert.deepEqual([wrong.allowed, wrong.status?.code, wrong.status?.reason, wrong.warnings], [false, 422, 'Invalid', ['careful']])
    assert.equal(wrong.status?.details?.causes?.[0]?.field, 'spec.size')
  })
})

describe('a right of the author', () => {
  const asking = (asksForRights: boolean): Admission =>
    defineAdmission({
      name: 'Asking',
      ...EVERYWHERE,
      asksForRights,
      async validate({ name }, { authorMay }) {
        const right = { group: '', resource: 'secrets', namespace: 'shop', name }
        return (await authorMay({ verb: 'get', ...right })) && !(await authorMay({ verb: 'delete', ...right }))
          ? []
          : [invalid('spec', name, 'no')]
      },
    })

  it('is asked of the server, by the name that the server gave', async () => {
    const isAllowed = async (userInfo: unknown): Promise<boolean> =>
      (await judged(asking(true), 'validate', reviewOf({ metadata: {} }, { userInfo }))).response.allowed
    assert.equal(await isAllowed({ username: 'ann' }), true)
    assert.equal(await isAllowed({ username: 'bob' }), false)
    assert.equal(await isAllowed(undefined), false)
  })

  it('comes with the groups and extras of the author, and none of another type', async () => {
    let seen: UserInfo | undefined
    const hasRight = async (user: UserInfo): Promise<boolean> => {
      seen = user
      return false
    }
    const userInfo = { username: 'ann', groups: ['people', 7], extra: { scopes: ['all', 7], ['__proto__']: ['x'], other: 'text' } }
    const body = reviewOf({ metadata: {} }, { userInfo })
    await reviewAdmission(body, { admission: asking(true), phase: 'validate', read: NOTHING, hasRight, nowMs: 5, newUid })
    assert.deepEqual(
      [seen?.name, seen?.groups, Object.entries(seen?.extra ?? {})],
      [
        'ann',
        ['people'],
        [
          ['scopes', ['all']],
          ['__proto__', ['x']],
        ],
      ],
    )
  })

  it('is not asked for by an admission that does not declare it: it would lack the permission', async () => {
    await assert.rejects(judged(asking(false), 'validate', reviewOf({ metadata: {} })), /Asking asks for rights, and does not declare it/)
  })
})

describe('the webhook server, without a network', () => {
  const failures: unknown[] = []
  const handle = webhookHandle({
    admissions: [
      asAdmission(runPlacement(PLAYED)),
      defineAdmission({
        name: 'AlwaysBroken',
        ...EVERYWHERE,
        mutate() {
          throw new TypeError('a secret detail')
        },
      }),
    ],
    kinds: [],
    read: NOTHING,
    hasRight: isAnn,
    ready: async () => undefined,
    nowMs: () => 0,
    newUid,
    onError: (error) => void failures.push(error),
  })
  const post = (path: string, body: unknown) => handle(path, Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? '')))

  it('answers what it cannot read with 400, and what is not there with 404', async () => {
    for (const body of ['', '{', 'null', '[]', '{"kind":"AdmissionReview"}', '{"kind":"AdmissionReview","request":{"uid":""}}'])
      assert.equal((await post('/mutate/run-placement', body)).status, 400, body)
    assert.equal((await post('/mutate/nobody', reviewOf({}))).status, 404)
    assert.equal((await post('/convert', reviewOf({}))).status, 400)
  })

  it('fails alone when an admission has a bug, and tells only its own log why', async () => {
    const { status, body } = await post('/mutate/always-broken', reviewOf({}))
    assert.equal(status, 500)
    assert.doesNotMatch(JSON.stringify(body), /secret detail/)
    assert.match(String(failures.pop()), /a secret detail/)
  })

  it('survives every body: an answer, always', async () => {
    const anything = fc.jsonValue({ maxDepth: 6 }) as fc.Arbitrary<unknown>
    const pod = fc.record({ metadata: anything, spec: fc.oneof(anything, fc.record({ containers: anything, tolerations: anything })) })
    const envelope = fc.record({
      uid: fc.string(),
      object: fc.oneof(anything, pod),
      namespace: anything,
      name: anything,
      userInfo: anything,
    })
    const body = fc.oneof(
      fc.string(),
      anything.map((value) => JSON.stringify(value)),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      envelope.map((request) => JSON.stringify({ kind: 'AdmissionReview', request })),
      envelope.map((request) => JSON.stringify({ kind: 'ConversionReview', request: { ...request, objects: [request.object] } })),
    )
    const path = fc.constantFrom('/mutate/run-placement', '/validate/run-placement', '/convert', '/', '/constructor', '/__proto__')
    await fc.assert(
      fc.asyncProperty(path, body, async (at, text) => {
        const { status, body: said } = await post(at, text)
        assert.ok([200, 400, 404, 500].includes(status), `${status}`)
        assert.equal(typeof JSON.stringify(said), 'string')
      }),
      { numRuns: 1000 },
    )
  })

  it('judges pods of any content without a failure of its own, as far as a server lets them through', async () => {
    failures.length = 0
    const text = fc.oneof(
      fc.string({ maxLength: 8 }),
      fc.constantFrom('__proto__', 'constructor', 'sluice.dev/run', 'process', 'simulated'),
    )
    const container = fc.record(
      { name: text, image: text, command: fc.array(text, { maxLength: 3 }), args: fc.array(text, { maxLength: 2 }) },
      { requiredKeys: [] },
    )
    const pod = fc.record(
      {
        metadata: fc.record(
          { name: text, annotations: fc.dictionary(text, text), labels: fc.dictionary(text, text) },
          { requiredKeys: [] },
        ),
        spec: fc.record(
          {
            containers: fc.array(container, { maxLength: 3 }),
            initContainers: fc.array(container, { maxLength: 2 }),
            tolerations: fc.array(fc.record({ key: text, operator: text, effect: text }, { requiredKeys: [] }), { maxLength: 3 }),
            nodeSelector: fc.dictionary(text, text),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(pod, fc.constantFrom('mutate', 'validate'), async (object, phase) => {
        const { status } = await post(`/${phase}/run-placement`, reviewOf(object))
        assert.deepEqual([status, failures], [200, []])
      }),
      { numRuns: 500 },
    )
  })
})
