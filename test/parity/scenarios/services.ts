/** Endpoints and endpoint slices of services. */
import { ENDPOINT_SLICES, ENDPOINTS, PODS, SERVICES } from '../../../src/kinds/kubernetes/resources.ts'
import type { Endpoints } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, type Stage, scenario } from '../scenario.ts'
import { NOWHERE, pod, replicaSet, service, statefulSet, template } from './objects.ts'
import { gone, isUp, podsIn, setIsUp } from './waits.ts'

const ALL = [ENDPOINT_SLICES, ENDPOINTS] as const

const addresses = (stage: Stage, count: number) =>
  stage.until(`${count} endpoints`, async () => {
    const slices = await stage.list(ENDPOINT_SLICES)
    return slices.length > 0 && slices.flatMap(({ endpoints }) => endpoints ?? []).length === count
  })

async function served(stage: Stage, spec: Record<string, unknown> = {}): Promise<void> {
  await stage.create(replicaSet('web', 2))
  await isUp(stage, 'web')
  await stage.create(service('web', spec))
}

const named = (port: number) => ({ containers: [{ name: 'main', image: 'app:1', ports: [{ name: 'http', containerPort: port }] }] })

export const SERVICE_SCENARIOS: readonly Scenario[] = [
  scenario('endpoints: of ready pods', async (stage) => {
    await served(stage)
    await addresses(stage, 2)
    await stage.noteAll('two', ...ALL, SERVICES)
    await stage.noteEvents('two')
  }),
  scenario('endpoints: follow pods that stop being ready', async (stage) => {
    await served(stage)
    await addresses(stage, 2)
    const [first] = await podsIn(stage, 2, 'Running')
    await stage.setReady(first ?? pod(''), false)
    await stage.until('one is not', async () =>
      (await stage.list(ENDPOINT_SLICES)).some(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready === false)),
    )
    await stage.noteAll('one is not', ...ALL)
    await stage.setReady(first ?? pod(''), true)
    await stage.until('both are', async () =>
      (await stage.list(ENDPOINT_SLICES)).every(({ endpoints }) => endpoints?.every(({ conditions }) => conditions?.ready)),
    )
    await stage.noteAll('both', ...ALL)
  }),
  scenario('endpoints: publishNotReadyAddresses', async (stage) => {
    await served(stage, { publishNotReadyAddresses: true })
    await addresses(stage, 2)
    const [first] = await podsIn(stage, 2, 'Running')
    await stage.setReady(first ?? pod(''), false)
    await stage.noteAll('both', ...ALL)
  }),
  scenario('endpoints: of a headless service', async (stage) => {
    await served(stage, { clusterIP: 'None' })
    await addresses(stage, 2)
    await stage.noteAll('headless', ...ALL, SERVICES)
  }),
  scenario('endpoints: of a stateful set have host names', async (stage) => {
    await stage.create(service('db', { clusterIP: 'None' }))
    await stage.create(statefulSet('db', 2))
    await setIsUp(stage, 'db')
    await addresses(stage, 2)
    await stage.noteAll('named', ...ALL)
  }),
  scenario('endpoints: named ports that differ between pods', async (stage) => {
    await stage.create(pod('old', { app: 'web' }, named(8080)))
    await stage.create(pod('new', { app: 'web' }, named(9090)))
    await podsIn(stage, 2, 'Running')
    await stage.create(service('web', { ports: [{ name: 'web', port: 80, targetPort: 'http' }] }))
    await addresses(stage, 2)
    await stage.noteAll('two slices', ...ALL)
  }),
  scenario('endpoints: several ports', async (stage) => {
    await served(stage, {
      ports: [
        { name: 'http', port: 80, targetPort: 8080, appProtocol: 'http' },
        { name: 'dns', port: 53, protocol: 'UDP' },
      ],
    })
    await addresses(stage, 2)
    await stage.noteAll('ports', ...ALL)
  }),
  scenario('endpoints: nobody matches', async (stage) => {
    await stage.create(service('web'))
    await stage.until('a slice', async () => (await stage.list(ENDPOINT_SLICES)).length === 1)
    await stage.noteAll('empty', ...ALL)
  }),
  scenario('endpoints: none for a service without a selector', async (stage) => {
    await stage.create(service('web', { selector: undefined }))
    await stage.pass(2)
    await stage.noteAll('none', ...ALL)
  }),
  scenario('endpoints: pods without a node do not count', async (stage) => {
    await stage.create(replicaSet('web', 1, { template: template('web', 'app:1', NOWHERE) }))
    await podsIn(stage, 1, 'Pending')
    await stage.create(service('web'))
    await stage.until('a slice', async () => (await stage.list(ENDPOINT_SLICES)).length === 1)
    await stage.noteAll('empty', ...ALL)
  }),
  scenario('endpoints: finished pods do not count', async (stage) => {
    await stage.create(pod('once', { app: 'web' }, { restartPolicy: 'Never' }))
    const [once] = await podsIn(stage, 1, 'Running')
    await stage.create(service('web'))
    await addresses(stage, 1)
    await stage.finish(once ?? pod(''), 0)
    await addresses(stage, 0)
    await stage.noteAll('none', ...ALL, PODS)
  }),
  scenario('endpoints: labels travel, another selector is followed', async (stage) => {
    await stage.create(pod('blue', { app: 'web', colour: 'blue' }))
    await stage.create(pod('green', { app: 'web', colour: 'green' }))
    await podsIn(stage, 2, 'Running')
    const web = service('web', { selector: { colour: 'blue' } })
    await stage.create({ ...web, metadata: { ...web.metadata, labels: { tier: 'front' } } })
    await addresses(stage, 1)
    await stage.noteAll('blue', ...ALL)
    await stage.patch(SERVICES, 'web', { spec: { selector: { app: 'web', colour: null } } })
    await addresses(stage, 2)
    await stage.noteAll('both', ...ALL)
  }),
  scenario('endpoints: go with their service', async (stage) => {
    await served(stage)
    await addresses(stage, 2)
    await stage.delete(SERVICES, 'web')
    await gone(stage, ENDPOINTS, 'web')
    await stage.until('no slices', async () => (await stage.list(ENDPOINT_SLICES)).length === 0)
    await stage.noteAll('gone', ...ALL)
  }),
  scenario('endpoints: written by hand are mirrored', async (stage) => {
    await stage.create(service('web', { selector: undefined }))
    await stage.create({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'web', labels: { tier: 'front' }, annotations: { 'example.test/of': 'people' } },
      subsets: [{ addresses: [{ ip: '10.9.8.7' }], notReadyAddresses: [{ ip: '10.9.8.6' }], ports: [{ name: 'http', port: 8080 }] }],
    } as Endpoints)
    await stage.until('a slice', async () => (await stage.list(ENDPOINT_SLICES)).length === 1)
    await stage.noteAll('mirrored', ...ALL)
    await stage.patch(ENDPOINTS, 'web', { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } })
    await stage.until('no slices', async () => (await stage.list(ENDPOINT_SLICES)).length === 0)
    await stage.noteAll('left alone', ...ALL)
  }),
  scenario('endpoints: trafficDistribution gives hints', async (stage) => {
    await served(stage, { trafficDistribution: 'PreferClose' })
    await addresses(stage, 2)
    await stage.noteAll('hints', ...ALL)
  }),
  scenario('endpoints: none for another name', async (stage) => {
    await stage.create(replicaSet('web', 1))
    await isUp(stage, 'web')
    await stage.create(service('web', { type: 'ExternalName', externalName: 'parity.test', ports: undefined }))
    await stage.pass(2)
    await stage.noteAll('none', ...ALL)
  }),
]
