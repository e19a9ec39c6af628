import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../../../src/client/builtin-resources.ts'
import { type Scenario, type Stage, scenario } from '../scenario.ts'
import { deployment } from './objects.ts'

async function rolledOut(stage: Stage, name: string): Promise<void> {
  await stage.until(`${name} is rolled out`, async () => {
    const { metadata, spec, status } = (await stage.get(DEPLOYMENTS, name)) ?? { metadata: {} }
    const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
    return (
      isSeen &&
      status?.updatedReplicas === spec?.replicas &&
      status?.availableReplicas === spec?.replicas &&
      (status?.replicas ?? 0) === spec?.replicas
    )
  })
}

export const DEPLOYMENT_SCENARIOS: readonly Scenario[] = [
  scenario('deployment: comes up', async (stage) => {
    await stage.create(deployment('web', 3))
    await rolledOut(stage, 'web')
    await stage.noteAll('up', DEPLOYMENTS, REPLICA_SETS, PODS)
    await stage.noteEvents('up')
  }),
  scenario('deployment: rolls to a new image', async (stage) => {
    await stage.create(deployment('web', 3))
    await rolledOut(stage, 'web')
    await stage.update(DEPLOYMENTS, 'web', (web) => {
      const [container] = web.spec?.template?.spec?.containers ?? []
      if (container !== undefined) container.image = 'app:2'
    })
    await rolledOut(stage, 'web')
    await stage.noteAll('rolled', DEPLOYMENTS, REPLICA_SETS, PODS)
  }),
]
