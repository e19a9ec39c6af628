/** What a PropagationPolicy makes of the objects it selects. */
import { DEPLOYMENTS } from '../../../src/client/builtin-resources.ts'
import { leaves, reaches } from '../looks.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea } from '../story.ts'

export const propagationPolicy: FleetArea = {
  name: 'propagation policy',
  stories: [
    {
      name: 'a Deployment reaches the clusters of its placement, and leaves them when it is deleted',
      async run(stage) {
        const [member1, member2, member3] = stage.members
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1, member2)))
        await stage.hub.create(aDeployment('web', { replicas: 3 }))
        await reaches(stage, DEPLOYMENTS, 'web', [member1, member2], ({ spec }) => spec?.replicas === 3)
        await stage.settle()
        await leaves(stage, DEPLOYMENTS, 'web', [member3])
        await stage.hub.delete(DEPLOYMENTS, 'web')
        await leaves(stage, DEPLOYMENTS, 'web', [member1, member2])
      },
    },
  ],
}
