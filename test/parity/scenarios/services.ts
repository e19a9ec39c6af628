/** Endpoints and endpoint slices of services. */
import { ENDPOINT_SLICES, ENDPOINTS, PODS, SERVICES } from '../../../src/kinds/kubernetes/resources.ts'
import type { Endpoints } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, scenario, type Testbed } from '../scenario.ts'
import { NOWHERE, pod, replicaSet, service, statefulSet, template } from './objects.ts'
import { gone, isUp, podsIn, setIsUp } from './waits.ts'

const ALL = [ENDPOINT_SLICES, ENDPOINTS] as const

const addresses = (testbed: Testbed, count: number) =>
  testbed.until(`${count} endpoints`, async () => {
    const slices = await testbed.list(ENDPOINT_SLICES)
    return slices.length > 0 && slices.flatMap(({ endpoints }) => endpoints ?? []).length === count
  })

async function served(testbed: Testbed, spec: Record<string, unknown> = {}): Promise<void> {
  await testbed.create(replicaSet('web', 2))
  await isUp(testbed, 'web')
  await testbed.create(service('web', spec))
}

const named = (port: number) => ({ containers: [{ name: 'main', image: 'app:1', ports: [{ name: 'http', containerPort: port }] }] })

export const SERVICE_SCENARIOS: readonly Scenario[] = [
  scenario('endpoints: of ready pods', async (testbed) => {
    await served(testbed)
    await addresses(testbed, 2)
    await testbed.noteAll('two', ...ALL, SERVICES)
    await testbed.noteEvents('two')
  }),
  scenario('endpoints: follow pods that stop being ready', async (testbed) => {
    await served(testbed)
    await addresses(testbed, 2)
    const [first] = await podsIn(testbed, 2, 'Running')
    await testbed.setReady(first ?? pod(''), false)
    await testbed.until('one is not', async () =>
      (await testbed.list(ENDPOINT_SLICES)).some(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready === false)),
    )
    await testbed.noteAll('one is not', ...ALL)
    await testbed.setReady(first ?? pod(''), true)
    await testbed.until('both are', async () =>
      (await testbed.list(ENDPOINT_SLICES)).every(({ endpoints }) => endpoints?.every(({ conditions }) => conditions?.ready)),
    )
    await testbed.noteAll('both', ...ALL)
  }),
  scenario('endpoints: publishNotReadyAddresses', async (testbed) => {
    await served(testbed, { publishNotReadyAddresses: true })
    await addresses(testbed, 2)
    const [first] = await podsIn(testbed, 2, 'Running')
    await testbed.setReady(first ?? pod(''), false)
    await testbed.noteAll('both', ...ALL)
  }),
  scenario('endpoints: of a headless service', async (testbed) => {
    await served(testbed, { clusterIP: 'None' })
    await addresses(testbed, 2)
    await testbed.noteAll('headless', ...ALL, SERVICES)
  }),
  scenario('endpoints: of a stateful set have host names', async (testbed) => {
    await testbed.create(service('db', { clusterIP: 'None' }))
    await testbed.create(statefulSet('db', 2))
    await setIsUp(testbed, 'db')
    await addresses(testbed, 2)
    await testbed.noteAll('named', ...ALL)
  }),
  scenario('endpoints: named ports that differ between pods', async (testbed) => {
    await testbed.create(pod('old', { app: 'web' }, named(8080)))
    await testbed.create(pod('new', { app: 'web' }, named(9090)))
    await podsIn(testbed, 2, 'Running')
    await testbed.create(service('web', { ports: [{ name: 'web', port: 80, targetPort: 'http' }] }))
    await addresses(testbed, 2)
    await testbed.noteAll('two slices', ...ALL)
  }),
  scenario('endpoints: several ports', async (testbed) => {
    await served(testbed, {
      ports: [
        { name: 'http', port: 80, targetPort: 8080, appProtocol: 'http' },
        { name: 'dns', port: 53, protocol: 'UDP' },
      ],
    })
    await addresses(testbed, 2)
    await testbed.noteAll('ports', ...ALL)
  }),
  scenario('endpoints: nobody matches', async (testbed) => {
    await testbed.create(service('web'))
    await testbed.until('a slice', async () => (await testbed.list(ENDPOINT_SLICES)).length === 1)
    await testbed.noteAll('empty', ...ALL)
  }),
  scenario('endpoints: none for a service without a selector', async (testbed) => {
    await testbed.create(service('web', { selector: undefined }))
    await testbed.pass(2)
    await testbed.noteAll('none', ...ALL)
  }),
  scenario('endpoints: pods without a node do not count', async (testbed) => {
    await testbed.create(replicaSet('web', 1, { template: template('web', 'app:1', NOWHERE) }))
    await podsIn(testbed, 1, 'Pending')
    await testbed.create(service('web'))
    await testbed.until('a slice', async () => (await testbed.list(ENDPOINT_SLICES)).length === 1)
    await testbed.noteAll('empty', ...ALL)
  }),
  scenario('endpoints: finished pods do not count', async (testbed) => {
    await testbed.create(pod('once', { app: 'web' }, { restartPolicy: 'Never' }))
    const [once] = await podsIn(testbed, 1, 'Running')
    await testbed.create(service('web'))
    await addresses(testbed, 1)
    await testbed.finish(once ?? pod(''), 0)
    await addresses(testbed, 0)
    await testbed.noteAll('none', ...ALL, PODS)
  }),
  scenario('endpoints: labels travel, another selector is followed', async (testbed) => {
    await testbed.create(pod('blue', { app: 'web', colour: 'blue' }))
    await testbed.create(pod('green', { app: 'web', colour: 'green' }))
    await podsIn(testbed, 2, 'Running')
    const web = service('web', { selector: { colour: 'blue' } })
    await testbed.create({ ...web, metadata: { ...web.metadata, labels: { tier: 'front' } } })
    await addresses(testbed, 1)
    await testbed.noteAll('blue', ...ALL)
    await testbed.patch(SERVICES, 'web', { spec: { selector: { app: 'web', colour: null } } })
    await addresses(testbed, 2)
    await testbed.noteAll('both', ...ALL)
  }),
  scenario('endpoints: go with their service', async (testbed) => {
    await served(testbed)
    await addresses(testbed, 2)
    await testbed.delete(SERVICES, 'web')
    await gone(testbed, ENDPOINTS, 'web')
    await testbed.until('no slices', async () => (await testbed.list(ENDPOINT_SLICES)).length === 0)
    await testbed.noteAll('gone', ...ALL)
  }),
  scenario('endpoints: written by hand are mirrored', async (testbed) => {
    await testbed.create(service('web', { selector: undefined }))
    await testbed.create({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'web', labels: { tier: 'front' }, annotations: { 'example.test/of': 'people' } },
      subsets: [{ addresses: [{ ip: '10.9.8.7' }], notReadyAddresses: [{ ip: '10.9.8.6' }], ports: [{ name: 'http', port: 8080 }] }],
    } as Endpoints)
    await testbed.until('a slice', async () => (await testbed.list(ENDPOINT_SLICES)).length === 1)
    await testbed.noteAll('mirrored', ...ALL)
    await testbed.patch(ENDPOINTS, 'web', { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } })
    await testbed.until('no slices', async () => (await testbed.list(ENDPOINT_SLICES)).length === 0)
    await testbed.noteAll('left alone', ...ALL)
  }),
  scenario('endpoints: trafficDistribution gives hints', async (testbed) => {
    await served(testbed, { trafficDistribution: 'PreferClose' })
    await addresses(testbed, 2)
    await testbed.noteAll('hints', ...ALL)
  }),
  scenario('endpoints: none for another name', async (testbed) => {
    await testbed.create(replicaSet('web', 1))
    await isUp(testbed, 'web')
    await testbed.create(service('web', { type: 'ExternalName', externalName: 'parity.test', ports: undefined }))
    await testbed.pass(2)
    await testbed.noteAll('none', ...ALL)
  }),
]
