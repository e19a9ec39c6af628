import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { admissionOf, kindsOf, ownAdmissionOf } from './composition.ts'
import { data } from './data/module.ts'
import { minicluster } from './minicluster/module.ts'
import { MODULES } from './modules.ts'

const names = (of: readonly { name: string }[]): string[] => of.map(({ name }) => name)

describe('the list of everything', () => {
  it('has each controller and each admission once', () => {
    for (const role of ['hub', 'member'] as const) {
      const controllers = names(MODULES.filter(({ roles }) => roles.includes(role)).flatMap((module) => module.declaredControllers()))
      assert.equal(new Set(controllers).size, controllers.length)
      for (const isBare of [true, false]) {
        const admission = names(admissionOf(role, isBare))
        assert.equal(new Set(admission).size, admission.length)
      }
    }
  })

  it('has each resource once, and of ours nothing on a bare server', () => {
    const key = ({ group, plural }: { group: string; plural: string }): string => `${group}/${plural}`
    const bare = kindsOf('hub', true).map(key)
    const full = kindsOf('hub', false).map(key)
    assert.equal(new Set(full).size, full.length)
    assert.ok(kindsOf('hub', true).every((kind) => kind.builtin))
    assert.deepEqual(
      bare.filter((one) => !full.includes(one)),
      [],
    )
  })

  it('serves the kinds of the fleet and the gate on the hub alone: a member is an ordinary cluster', () => {
    const groups = (role: 'hub' | 'member'): string[] => [...new Set(kindsOf(role, false).map(({ group }) => group))]
    assert.deepEqual(
      groups('hub').filter((group) => !groups('member').includes(group)),
      ['cluster.karmada.io', 'policy.karmada.io', 'work.karmada.io', 'config.karmada.io', 'datadependency.volcano.sh'],
    )
  })

  it('looks after service accounts and volumes where pods run, and as a bare kube-apiserver when bare', () => {
    const differs = (a: readonly { name: string }[], b: readonly { name: string }[]): string[] =>
      names(a).filter((name) => !names(b).includes(name))
    const own = names(ownAdmissionOf('member'))
    assert.deepEqual(
      own,
      [...names(data.admission('member')), ...names(minicluster.admission('member'))],
      'where a pod runs is decided last',
    )
    const added = differs(admissionOf('member', false), admissionOf('member', true)).filter((name) => !own.includes(name))
    assert.equal(added.length, 1, 'the ServiceAccount admission')
    assert.deepEqual(
      differs(admissionOf('hub', false), admissionOf('member', false)),
      names(ownAdmissionOf('hub')).filter((name) => !own.includes(name)),
    )
    assert.deepEqual(names(admissionOf('hub', true)), names(admissionOf('member', true)))
  })
})
