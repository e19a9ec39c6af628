/** How urgent a binding is, taken from a PriorityClass of the hub. */
import assert from 'node:assert/strict'
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { bindingOf, isOnlyIn } from '../expectations.ts'
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
      async run(testbed) {
        const [member1] = testbed.members
        const name = testbed.unique('urgent')
        await testbed.hub.create(aPriorityClass(name, 1000))
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1), from(name)))
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        assert.equal((await bindingOf(testbed, 'Deployment', 'web'))?.spec.schedulePriority?.priority, 1000)
      },
    },
    {
      name: 'without the class there is no binding; it comes with the class',
      async run(testbed) {
        const [member1] = testbed.members
        const name = testbed.unique('later')
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1), from(name)))
        await testbed.hub.create(aDeployment('web'))
        await testbed.settle()
        assert.equal(await bindingOf(testbed, 'Deployment', 'web'), undefined)
        await testbed.hub.create(aPriorityClass(name, 7))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        assert.equal((await bindingOf(testbed, 'Deployment', 'web'))?.spec.schedulePriority?.priority, 7)
      },
    },
    {
      name: 'a policy that names none makes bindings without a priority',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        assert.equal((await bindingOf(testbed, 'Deployment', 'web'))?.spec.schedulePriority, undefined)
      },
    },
  ],
}
