import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aClusterRole } from '../../src/faultsim/builders/index.ts'
import { expectThere } from '../../src/faultsim/expect/index.ts'
import { story } from '../../src/faultsim/story.ts'
import { CLUSTER_ROLES } from '../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'

interface Rule {
  apiGroups?: string[]
  resources?: string[]
  verbs: string[]
}

const rulesOf = (role: KubeObject): Rule[] => (role.rules as Rule[] | null) ?? []
const WIDGET_RULE: Rule = { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get'] }
const TO_VIEW = { labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } }
const hasWidgets = (role: KubeObject): boolean => rulesOf(role).some((rule) => rule.resources?.includes('widgets'))

describe('aggregated roles', () => {
  story('admin, edit and view are filled from the roles that feed them', async ({ hub }) => {
    const view = await expectThere(hub, CLUSTER_ROLES, 'view')
    const edit = await expectThere(hub, CLUSTER_ROLES, 'edit')
    const admin = await expectThere(hub, CLUSTER_ROLES, 'admin')
    assert.ok(rulesOf(view).some((rule) => rule.resources?.includes('configmaps') && rule.verbs.includes('list')))
    assert.ok(!rulesOf(view).some((rule) => rule.resources?.includes('secrets')))
    assert.ok(rulesOf(edit).some((rule) => rule.resources?.includes('deployments') && rule.verbs.includes('create')))
    assert.ok(rulesOf(admin).some((rule) => rule.resources?.includes('rolebindings') && rule.verbs.includes('create')))
    assert.ok(rulesOf(admin).length >= rulesOf(edit).length && rulesOf(edit).length >= rulesOf(view).length)
  })

  story('gain a role that appears, follow its changes, and lose it when it goes', async (world) => {
    const { hub } = world
    await hub.create(aClusterRole('widgets', { metadata: TO_VIEW, rules: [WIDGET_RULE] }))
    await world.settle()
    for (const name of ['view', 'edit', 'admin']) assert.ok(hasWidgets(await expectThere(hub, CLUSTER_ROLES, name)), name)

    await hub.patch(CLUSTER_ROLES, 'widgets', { rules: [{ ...WIDGET_RULE, verbs: ['get', 'list'] }] })
    await world.settle()
    const rules = rulesOf(await expectThere(hub, CLUSTER_ROLES, 'view')).filter((rule) => rule.resources?.includes('widgets'))
    assert.deepEqual(rules, [{ ...WIDGET_RULE, verbs: ['get', 'list'] }])

    await hub.patch(CLUSTER_ROLES, 'widgets', { metadata: { labels: null } })
    await world.settle()
    for (const name of ['view', 'edit', 'admin']) assert.ok(!hasWidgets(await expectThere(hub, CLUSTER_ROLES, name)), name)
  })

  story('of people are filled too, repaired when written by hand, and cleared when nothing feeds them', async (world) => {
    const { hub } = world
    const aggregationRule = {
      clusterRoleSelectors: [{ matchLabels: { feeds: 'mine' } }, { matchExpressions: [{ key: 'also', operator: 'Exists' }] }],
    }
    const other: Rule = { apiGroups: ['example.com'], resources: ['cogs'], verbs: ['get'] }
    await hub.create(aClusterRole('mine', { aggregationRule }))
    await hub.create(aClusterRole('z', { metadata: { labels: { feeds: 'mine' } }, rules: [other, WIDGET_RULE] }))
    await hub.create(aClusterRole('b', { metadata: { labels: { also: '' } }, rules: [WIDGET_RULE] }))
    await world.settle()
    assert.deepEqual(rulesOf(await expectThere(hub, CLUSTER_ROLES, 'mine')), [other, WIDGET_RULE])
    await hub.patch(CLUSTER_ROLES, 'mine', { rules: [] })
    await world.settle()
    assert.deepEqual(rulesOf(await expectThere(hub, CLUSTER_ROLES, 'mine')), [other, WIDGET_RULE])
    await hub.delete(CLUSTER_ROLES, 'z')
    await hub.delete(CLUSTER_ROLES, 'b')
    await world.settle()
    assert.deepEqual(rulesOf(await expectThere(hub, CLUSTER_ROLES, 'mine')), [])
  })
})
