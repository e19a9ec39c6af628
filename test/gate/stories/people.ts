/** Whom the gate lets do what: what is refused, what one namespace may use of another, and who may write claims and sources. */
import assert from 'node:assert/strict'
import { ReferenceGrant } from '../../../src/kinds/gateway/reference-grant.ts'
import { CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../../src/kinds/volcano/resources.ts'
import { CLAIMS_ANNOTATION, PRODUCER_NAMESPACE, PRODUCES_ANNOTATION } from '../../../src/kinds/volcano/well-known.ts'
import { findCondition } from '../../../src/kube/conditions.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import { leaves, refusalOf } from '../../fleet/expectations.ts'
import { aPropagationPolicy, on, selectorOf } from '../../fleet/manifests.ts'
import { installed, report } from '../../fleet/own-kind.ts'
import type { FleetArea, FleetTestbed } from '../../fleet/story.ts'
import { claimNamed, isBoundTo, isHeld, isPending, isReleased } from '../expectations.ts'
import { aReportedJob, succeeds } from '../jobs.ts'
import { aClaim, aSelectingClaim, aSource, aWorkload, dataName, submit } from '../manifests.ts'

const VOLCANO_JOBS: Resource = { group: 'batch.volcano.sh', version: 'v1alpha1', plural: 'jobs', kind: 'Job', namespaced: true }
const ACCESS_REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
}
const DEPENDENCY_GROUP = 'datadependency.volcano.sh'

/** From claims of some namespaces to the sources of the namespace that it is in. */
const aGrant = (namespace: string, ...from: string[]): KubeObject => ({
  apiVersion: `${ReferenceGrant.resource.group}/${ReferenceGrant.resource.version}`,
  kind: 'ReferenceGrant',
  metadata: { name: 'data', namespace },
  spec: {
    from: from.map((one) => ({ group: DEPENDENCY_GROUP, kind: 'DataSourceClaim', namespace: one })),
    to: [{ group: DEPENDENCY_GROUP, kind: 'DataSource' }],
  },
})

const resolvedText = async (testbed: FleetTestbed, claim: string): Promise<string | undefined> =>
  findCondition((await claimNamed(testbed, claim))?.status?.conditions, 'Resolved')?.message

/** The only source that workloads of this namespace make. */
const sourceMadeIn = async (testbed: FleetTestbed, namespace: string): Promise<string | undefined> =>
  (await testbed.hub.list(DATA_SOURCES)).find(({ metadata }) => metadata.annotations?.[PRODUCER_NAMESPACE] === namespace)?.metadata.name

/** The Job of another namespace succeeds, and what it made is known. */
async function endsThere(testbed: FleetTestbed, namespace: string): Promise<void> {
  await succeeds(testbed, testbed.members[1], 'make', { namespace })
  await testbed.until('what the others made', async () => (await sourceMadeIn(testbed, namespace)) !== undefined)
}

export const people: FleetArea = {
  name: 'people',
  stories: [
    {
      name: 'D18: a claim whose workload has an empty apiVersion, kind or name is refused, with what to write',
      async run(testbed) {
        const whole = selectorOf(aWorkload()) as Record<string, string>
        for (const field of ['apiVersion', 'kind', 'name']) {
          const spec = { workload: { ...whole, [field]: '' } }
          const refusal = await refusalOf(testbed.hub.create(aClaim(testbed, 'sales', aWorkload(), { spec })))
          assert.match(refusal, new RegExp(`spec\\.workload\\.${field}: Required value: (name|write) `))
        }
        const elsewhere = { workload: { ...whole, namespace: 'elsewhere' } }
        assert.match(await refusalOf(testbed.hub.create(aClaim(testbed, 'sales', aWorkload(), { spec: elsewhere }))), /workload\.namespace/)
        for (const field of ['system', 'dataSourceType', 'dataSourceName']) {
          const refusal = await refusalOf(testbed.hub.create(aClaim(testbed, 'sales', aWorkload(), { spec: { [field]: '' } })))
          assert.match(refusal, new RegExp(`spec\\.${field}: Required value: `))
        }
        // It still works for everybody.
        await testbed.hub.create(aClaim(testbed, 'sales', aWorkload()))
        await isPending(testbed, 'sales', 'NoSuchSource')
      },
    },
    {
      name: 'D24: a source without a place is refused, so it cannot open a gate',
      async run(testbed) {
        const [, member2] = testbed.members
        for (const spec of [{ locality: { clusterNames: [] } }, { locality: { clusterNames: [''] } }, { name: '' }, { system: ' ' }])
          assert.match(await refusalOf(testbed.hub.create(aSource(testbed, 'sales', [], { spec }))), /Required value: (say|name) /)
        const reclaim = aSource(testbed, 'sales', [member2], { spec: { reclaimPolicy: 'Recycle' } })
        assert.match(await refusalOf(testbed.hub.create(reclaim)), /spec\.reclaimPolicy: Unsupported value: "Recycle"/)
        const workload = aWorkload()
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await submit(testbed, workload)
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoSuchSource' })
        await testbed.hub.create(aSource(testbed, 'sales', [member2]))
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const emptied = testbed.hub.patch(DATA_SOURCES, testbed.unique('sales'), { spec: { locality: { clusterNames: [] } } })
        assert.match(await refusalOf(emptied), /say which clusters hold the data/)
      },
    },
    {
      name: 'a claim has exactly one of its two forms, and a selector that selects',
      needs: 'seed form', // workloadSelector, attributesSelector
      async run(testbed) {
        const labels = { data: 'sales' }
        const workload = selectorOf(aWorkload())
        const refused = async (spec: Record<string, unknown>): Promise<string> =>
          refusalOf(testbed.hub.create(aSelectingClaim(testbed, 'sales', labels, spec)))
        assert.match(await refused({ workload }), /may not be combined with workload: keep one of the two/)
        assert.match(await refused({ workloadSelector: undefined }), /say who needs the data/)
        assert.match(await refused({ workloadSelector: {} }), /an empty selector would hold every workload/)
        assert.match(await refused({ attributes: { tier: 'gold' } }), /spec\.attributes.*write attributesSelector/)
        const both = { workload, workloadSelector: undefined, dataSourceName: 'sales', attributesSelector: { matchLabels: labels } }
        assert.match(await refused(both), /spec\.attributesSelector.*write attributes/)
        assert.match(await refused({ attributesSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } }), /In, NotIn, Exists/)
      },
    },
    {
      name: 'a workload whose annotations cannot be read is refused',
      async run(testbed) {
        const refused = (annotations: Record<string, string>): Promise<string> =>
          refusalOf(testbed.hub.create(aWorkload('report', { annotations })))
        assert.match(await refused({ [CLAIMS_ANNOTATION]: 'Sales' }), /"Sales" cannot be the name of a claim/)
        assert.match(await refused({ [PRODUCES_ANNOTATION]: 'sales' }), /write for example hive\/table\/sales\.daily/)
      },
    },
    {
      name: 'what another namespace makes is used by consent, and without it nobody can tell whether it exists',
      alone: 'restored', // a grant about sources changes what claims of every namespace are told
      async run(testbed) {
        const [, member2] = testbed.members
        const makers = testbed.unique('makers')
        await testbed.hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: makers } })
        const job = aReportedJob('make', { [PRODUCES_ANNOTATION]: dataName(testbed, 'sales') })
        const theirs = (object: KubeObject): KubeObject => ({ ...object, metadata: { ...object.metadata, namespace: makers } })
        await testbed.hub.create(aGrant(makers, 'friends'))
        await testbed.hub.create(theirs(aPropagationPolicy('make', [selectorOf(job)], on(member2))))
        await testbed.hub.create(theirs(job))
        const workload = aWorkload()
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await testbed.hub.create(aClaim(testbed, 'nothing', aWorkload('other')))
        await submit(testbed, workload)
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NotPermitted' })
        await endsThere(testbed, makers)
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NotPermitted' })
        await isPending(testbed, 'nothing', 'NotPermitted')
        assert.equal(await resolvedText(testbed, 'sales'), await resolvedText(testbed, 'nothing'))
        const { from } = aGrant(makers, 'friends', testbed.namespace).spec as { from: unknown }
        await testbed.hub.patch(ReferenceGrant.resource, 'data', { spec: { from } }, { namespace: makers })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        await isPending(testbed, 'nothing', 'NoSuchSource')
        // Consent that is withdrawn holds what is new; what runs stays.
        await testbed.hub.patch(ReferenceGrant.resource, 'data', { spec: aGrant(makers, 'friends').spec }, { namespace: makers })
        await isPending(testbed, 'sales', 'NotPermitted')
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        await testbed.hub.delete(ReferenceGrant.resource, 'data', { namespace: makers })
        await isBoundTo(testbed, 'sales', (await sourceMadeIn(testbed, makers)) ?? '')
      },
    },
    {
      name: '001-49: a Volcano Job waits for its data, goes whole to where it is, and makes data itself',
      alone: 'restored',
      needs: 'own members', // its kind has one name in all of them
      async run(testbed) {
        const [, member2] = testbed.members
        const jobs = await installed(testbed, VOLCANO_JOBS)
        const pod = { containers: [{ name: 'main', image: 'nginx:1.19.0' }] }
        const tasks = [{ name: 'worker', replicas: 2, template: { spec: pod } }]
        const train: KubeObject = jobs.make('train', { minAvailable: 2, tasks })
        train.metadata.annotations = { [PRODUCES_ANNOTATION]: dataName(testbed, 'model') }
        await testbed.hub.create(aClaim(testbed, 'sales', train))
        const serve = aWorkload('serve')
        await testbed.hub.create(aClaim(testbed, 'model', serve))
        await testbed.hub.create(aPropagationPolicy('train', [selectorOf(train)], {}))
        await testbed.hub.create(train, VOLCANO_JOBS)
        await submit(testbed, serve)
        await isHeld(testbed, VOLCANO_JOBS, 'train', { reason: 'NoSuchSource' })
        await isHeld(testbed, DEPLOYMENTS, 'serve', { reason: 'NotProducedYet', message: /Job \S+\/train makes .* is held: NoSuchSource/ })
        await testbed.hub.create(aSource(testbed, 'sales', [member2]))
        await isReleased(testbed, VOLCANO_JOBS, 'train', { member2: 0 }, { replicas: () => 0 })
        await report(member2, jobs, 'train', { state: { phase: 'Completed' }, succeeded: 2, minAvailable: 2 })
        await isReleased(testbed, DEPLOYMENTS, 'serve', { member2: 1 })
        // The kind goes as it came.
        await testbed.hub.delete(VOLCANO_JOBS, 'train')
        await leaves(testbed, VOLCANO_JOBS, 'train', testbed.members)
        await testbed.hub.delete(CUSTOM_RESOURCE_DEFINITIONS, 'jobs.batch.volcano.sh')
        await leaves(testbed, CUSTOM_RESOURCE_DEFINITIONS, 'jobs.batch.volcano.sh', [testbed.hub, ...testbed.members])
      },
    },
    {
      name: 'who may edit a namespace writes claims there, and no sources',
      needs: 'pods', // a controller that aggregates roles
      async run(testbed) {
        const user = testbed.unique('editor')
        await testbed.hub.create({
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'editors' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
        })
        const may = async (verb: string, { group, plural }: Resource, namespace = testbed.namespace): Promise<boolean> => {
          const attributes = { namespace, verb, group, resource: plural }
          const review = {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SubjectAccessReview',
            metadata: {},
            spec: { user, resourceAttributes: attributes },
          }
          const { status } = (await testbed.hub.create(review as KubeObject, ACCESS_REVIEWS)) as KubeObject & {
            status?: { allowed?: boolean }
          }
          return status?.allowed === true
        }
        for (const verb of ['get', 'list', 'create', 'update', 'patch', 'delete']) {
          assert.equal(await may(verb, DATA_SOURCE_CLAIMS), true, `${verb} claims`)
          assert.equal(await may(verb, DATA_SOURCE_CLAIMS, 'default'), false, `${verb} claims elsewhere`)
          assert.equal(await may(verb, DATA_SOURCES), false, `${verb} sources`)
        }
      },
    },
  ],
}
