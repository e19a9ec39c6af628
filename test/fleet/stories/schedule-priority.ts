/** How urgent a binding is, taken from a PriorityClass of the hub. */
import assert from 'node:assert/strict'
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { bindingOf, isOnlyIn } from '../looks.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea } from '../story.ts'

const aPriorityClass = (name: string, value: number): KubeObject => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
})

const from = (priorityClassName: string) => ({ schedulePriority: { priorityClassSource: 'KubePriorityClass', priorityClassName } })

export const schedulePriority: FleetArea = {
  name: 'schedule priority',
  stories: [
    {
      name: 'a binding has the value of the class that its policy names',
      async run(stage) {
        const [member1] = stage.members
        const name = stage.unique('urgent')
        await stage.hub.create(aPriorityClass(name, 1000))
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1), from(name)))
        await stage.hub.create(aDeployment('web'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        assert.equal((await bindingOf(stage, 'Deployment', 'web'))?.spec.schedulePriority?.priority, 1000)
      },
    },
    {
      name: 'without the class there is no binding; it comes with the class',
      async run(stage) {
        const [member1] = stage.members
        const name = stage.unique('later')
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1), from(name)))
        await stage.hub.create(aDeployment('web'))
        await stage.settle()
        assert.equal(await bindingOf(stage, 'Deployment', 'web'), undefined)
        await stage.hub.create(aPriorityClass(name, 7))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        assert.equal((await bindingOf(stage, 'Deployment', 'web'))?.spec.schedulePriority?.priority, 7)
      },
    },
    {
      name: 'a policy that names none makes bindings without a priority',
      async run(stage) {
        const [member1] = stage.members
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await stage.hub.create(aDeployment('web'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        assert.equal((await bindingOf(stage, 'Deployment', 'web'))?.spec.schedulePriority, undefined)
      },
    },
  ],
}
