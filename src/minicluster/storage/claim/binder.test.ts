/**
 * The binder under everything that can happen to it: claims and volumes of all sizes, views of any age, and a crash between
 * any two writes. The model is the pure plans of claims and volumes over objects with versions, as a server checks them.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepClone, isJsonObject, type JsonObject } from '../../../base/json.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { applyMergePatch } from '../../../kube/patch/index.ts'
import type { Action, Batch, Plan } from '../../../runtime/controller.ts'
import { aClaim, aVolume } from '../testing.ts'
import { plan as planVolume } from '../volume/controller.ts'
import { findVolume } from './match.ts'
import { plan as planClaim } from './plan.ts'

interface State {
  claims: Map<string, PersistentVolumeClaim>
  volumes: Map<string, PersistentVolume>
}

const copyOf = ({ claims, volumes }: State): State => ({ claims: new Map(claims), volumes: new Map(volumes) })

/** As a server would: rejected when the object has changed since. */
function write(state: State, action: Action | Batch): boolean {
  if (action.do === 'create') return true
  assert.ok(action.do === 'patch', 'the binder patches and nothing else')
  const objects = (action.resource.plural === 'persistentvolumes' ? state.volumes : state.claims) as Map<string, KubeObject>
  const name = action.of.metadata.name ?? ''
  const live = objects.get(name)
  if (live === undefined || live.metadata.resourceVersion !== action.of.metadata.resourceVersion) return false
  const patch = action.subresource === 'status' ? { status: action.patch.status } : { ...action.patch, status: live.status }
  const next = applyMergePatch(deepClone(live), { value: patch as JsonObject, strictErrors: [] }) as unknown as KubeObject
  next.metadata.resourceVersion = String(Number(live.metadata.resourceVersion) + 1)
  objects.set(name, next)
  return true
}

function planOf(view: State, kind: 'claim' | 'volume', name: string): Plan {
  const recorded = new Set<string>()
  if (kind === 'volume') {
    const volume = view.volumes.get(name)
    const ref = volume?.spec?.claimRef
    const claim = view.claims.get(ref?.name ?? '')
    return planVolume({
      volume,
      claim: claim?.metadata.uid === ref?.uid ? claim : undefined,
      recorded,
      recordedOfClaim: recorded,
      nowMs: 0,
    })
  }
  const claim = view.claims.get(name)
  const volumes = [...view.volumes.values()]
  return planClaim({
    claim,
    storageClass: undefined,
    defaultClass: undefined,
    named: view.volumes.get(claim?.spec?.volumeName ?? ''),
    reserved: volumes.filter(({ spec }) => spec?.claimRef?.name === name),
    available: volumes.filter(({ spec, status }) => spec?.claimRef === undefined && status?.phase === 'Available'),
    waitingPods: [],
    recorded,
    nowMs: 0,
  })
}

function check({ claims, volumes }: State): void {
  const owners = new Map<string, string>()
  for (const [name, { metadata, spec }] of claims) {
    const volume = spec?.volumeName ?? ''
    if (volume === '') continue
    assert.ok(!owners.has(volume), `${volume} is taken by ${owners.get(volume)} and ${name}`)
    owners.set(volume, name)
    assert.equal(volumes.get(volume)?.spec?.claimRef?.uid, metadata.uid, `${name} names ${volume}, which refers to somebody else`)
  }
}

/** All controllers act on the current state, until none has anything to do. */
function settle(state: State): void {
  for (let round = 0; round < 50; round++) {
    let writes = 0
    for (const kind of ['volume', 'claim'] as const)
      for (const name of [...(kind === 'volume' ? state.volumes : state.claims).keys()])
        for (const action of planOf(state, kind, name).actions) {
          if (action.do !== 'patch') continue
          writes++
          if (!write(state, action)) break
          check(state)
        }
    if (writes === 0) return
  }
  assert.fail('it never comes to rest')
}

const size = fc.integer({ min: 1, max: 4 }).map((gigabytes) => `${gigabytes}Gi`)
const modes = fc.subarray(['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'], { minLength: 1 })
const start = fc.record({
  volumes: fc.array(fc.record({ size, modes, reservedFor: fc.option(fc.nat(4), { nil: undefined }) }), { minLength: 1, maxLength: 5 }),
  claims: fc.array(fc.record({ size, modes }), { minLength: 1, maxLength: 5 }),
})
/** Which controller acts, on a view how many writes old, and how many of its writes happen before it crashes. */
const step = fc.record({ kind: fc.constantFrom('claim' as const, 'volume' as const), who: fc.nat(4), age: fc.nat(6), writes: fc.nat(3) })

function stateOf({ volumes, claims }: typeof start extends fc.Arbitrary<infer T> ? T : never): State {
  const named = <T extends KubeObject>(object: T): [string, T] => {
    object.metadata = { ...object.metadata, uid: `uid-${object.metadata.name}`, resourceVersion: '1' }
    return [object.metadata.name ?? '', object]
  }
  return {
    claims: new Map(
      claims.map((one, i) =>
        named({
          ...aClaim(`c${i}`, { accessModes: one.modes, resources: { requests: { storage: one.size } } }),
          status: { phase: 'Pending' },
        }),
      ),
    ),
    volumes: new Map(
      volumes.map((one, i) => {
        const claimRef = one.reservedFor === undefined ? undefined : { namespace: 'default', name: `c${one.reservedFor}` }
        return named({
          ...aVolume(`v${i}`, { accessModes: one.modes, capacity: { storage: one.size }, claimRef }),
          status: { phase: 'Pending' },
        })
      }),
    ),
  }
}

describe('the binder', () => {
  it('never gives a volume to two claims, and finishes what was cut off anywhere', () => {
    fc.assert(
      fc.property(start, fc.array(step, { maxLength: 40 }), (from, steps) => {
        const state = stateOf(from)
        const history = [copyOf(state)]
        for (const { kind, who, age, writes } of steps) {
          const view = history[Math.max(0, history.length - 1 - age)] as State
          const name = `${kind === 'claim' ? 'c' : 'v'}${who}`
          for (const action of planOf(view, kind, name).actions.slice(0, writes)) {
            if (!write(state, action)) break
            check(state)
            history.push(copyOf(state))
          }
        }
        settle(state)
        for (const [name, claim] of state.claims) {
          const volume = state.volumes.get(claim.spec?.volumeName ?? '')
          if (volume !== undefined) {
            assert.equal(claim.status?.phase, 'Bound', name)
            assert.equal(volume.status?.phase, 'Bound', volume.metadata.name)
            continue
          }
          const volumes = [...state.volumes.values()]
          const left = findVolume(claim, { reserved: volumes, available: volumes, isDelayed: false })
          assert.equal(left?.metadata.name, undefined, `${name} could have had a volume`)
        }
        for (const { spec, status, metadata } of state.volumes.values()) {
          const isFree = spec?.claimRef?.uid === undefined
          assert.equal(status?.phase, isFree ? 'Available' : 'Bound', metadata.name)
        }
      }),
      { numRuns: 600 },
    )
  })

  it('chooses the same volume whatever the order of the lists', () => {
    fc.assert(
      fc.property(start, fc.integer(), ({ volumes, claims }, seed) => {
        const state = stateOf({ volumes: volumes.map((one) => ({ ...one, reservedFor: undefined })), claims })
        const all = [...state.volumes.values()].map((volume) => ({ ...volume, status: { phase: 'Available' } }))
        const shuffled = [...all].sort((a, b) => hash(a.metadata.name ?? '', seed) - hash(b.metadata.name ?? '', seed))
        for (const claim of state.claims.values()) {
          const candidates = { reserved: [], isDelayed: false }
          assert.equal(
            findVolume(claim, { ...candidates, available: all })?.metadata.name,
            findVolume(claim, { ...candidates, available: shuffled })?.metadata.name,
          )
        }
      }),
    )
  })

  it('has something to test: patches of the model are applied', () => {
    const state = stateOf({
      volumes: [{ size: '1Gi', modes: ['ReadWriteOnce'], reservedFor: undefined }],
      claims: [{ size: '1Gi', modes: ['ReadWriteOnce'] }],
    })
    settle(state)
    assert.equal(state.claims.get('c0')?.spec?.volumeName, 'v0')
    assert.ok(isJsonObject(state.volumes.get('v0')?.spec?.claimRef))
  })
})

function hash(text: string, seed: number): number {
  let value = seed
  for (const letter of text) value = (Math.imul(value, 31) + letter.charCodeAt(0)) | 0
  return value
}
