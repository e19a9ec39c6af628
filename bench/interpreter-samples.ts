/** A Deployment, and rules for it in Lua that do what the native ones do, so that the two can be compared. */
import { deepFreeze } from '../src/base/json.ts'
import type { ResourceInterpreterCustomization } from '../src/kinds/karmada/index.ts'
import type { KubeObject } from '../src/kube/meta.ts'

export const DEPLOYMENT: KubeObject = deepFreeze({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', generation: 3, labels: { app: 'web' } },
  spec: {
    replicas: 6,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        serviceAccountName: 'web',
        nodeSelector: { disk: 'ssd' },
        containers: [
          {
            name: 'web',
            image: 'registry.example/web:1',
            resources: { requests: { cpu: '250m', memory: '256Mi' }, limits: { memory: '512Mi' } },
            envFrom: [{ configMapRef: { name: 'settings' } }],
          },
          { name: 'sidecar', image: 'registry.example/proxy:1', resources: { requests: { cpu: '50m' } } },
        ],
        volumes: [
          { name: 'key', secret: { secretName: 'key' } },
          { name: 'tmp', emptyDir: {} },
        ],
      },
    },
  },
})

export const DEPLOYMENT_STATUS = deepFreeze({
  observedGeneration: 3,
  replicas: 6,
  updatedReplicas: 6,
  readyReplicas: 6,
  availableReplicas: 6,
  conditions: [
    { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', lastTransitionTime: '2024-01-01T00:00:00Z' },
    { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', lastTransitionTime: '2024-01-01T00:00:00Z' },
  ],
})

const COUNTERS = '{ "replicas", "readyReplicas", "updatedReplicas", "availableReplicas", "unavailableReplicas" }'

export const DEPLOYMENT_CUSTOMIZATION: ResourceInterpreterCustomization = deepFreeze({
  apiVersion: 'config.karmada.io/v1alpha1',
  kind: 'ResourceInterpreterCustomization',
  metadata: { name: 'deployment' },
  spec: {
    target: { apiVersion: 'apps/v1', kind: 'Deployment' },
    customizations: {
      replicaResource: {
        luaScript: `
local kube = require("kube")
function GetReplicas(obj)
  return obj.spec.replicas, kube.accuratePodRequirements(obj.spec.template)
end`,
      },
      replicaRevision: {
        luaScript: `
function ReviseReplica(obj, desiredReplica)
  obj.spec.replicas = desiredReplica
  return obj
end`,
      },
      retention: {
        luaScript: `
function Retain(desiredObj, observedObj)
  if desiredObj.metadata.labels ~= nil and desiredObj.metadata.labels["resourcetemplate.karmada.io/retain-replicas"] == "true" then
    desiredObj.spec.replicas = observedObj.spec.replicas
  end
  return desiredObj
end`,
      },
      statusAggregation: {
        luaScript: `
local counters = ${COUNTERS}
function AggregateStatus(desiredObj, statusItems)
  local status = { observedGeneration = desiredObj.metadata.generation, conditions = {} }
  for _, item in ipairs(statusItems or {}) do
    for _, counter in ipairs(counters) do
      status[counter] = (status[counter] or 0) + (item.status and item.status[counter] or 0)
    end
    for _, condition in ipairs(item.status and item.status.conditions or {}) do
      table.insert(status.conditions, condition)
    end
  end
  desiredObj.status = status
  return desiredObj
end`,
      },
      statusReflection: {
        luaScript: `
local fields = { "replicas", "readyReplicas", "updatedReplicas", "availableReplicas", "unavailableReplicas", "observedGeneration", "conditions" }
function ReflectStatus(observedObj)
  local status = { generation = observedObj.metadata.generation }
  for _, field in ipairs(fields) do
    status[field] = observedObj.status and observedObj.status[field]
  end
  return status
end`,
      },
      healthInterpretation: {
        luaScript: `
function InterpretHealth(observedObj)
  local status = observedObj.status
  return status ~= nil and status.observedGeneration == observedObj.metadata.generation
    and status.updatedReplicas == observedObj.spec.replicas and status.availableReplicas == status.updatedReplicas
end`,
      },
      dependencyInterpretation: {
        luaScript: `
local kube = require("kube")
function GetDependencies(desiredObj)
  return kube.getPodDependencies(desiredObj.spec.template, desiredObj.metadata.namespace)
end`,
      },
    },
  },
})
