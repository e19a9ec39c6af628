/**
 * The OpenAPI facts, one text per group version, and which Go package prefix of a definition name lives in which.
 * Nothing is parsed here.
 */
import admissionregistrationV1 from './facts/openapi/admissionregistration.k8s.io_v1.facts'
import apiextensionsV1 from './facts/openapi/apiextensions.k8s.io_v1.facts'
import apiregistrationV1 from './facts/openapi/apiregistration.k8s.io_v1.facts'
import appsV1 from './facts/openapi/apps_v1.facts'
import authenticationV1 from './facts/openapi/authentication.k8s.io_v1.facts'
import authorizationV1 from './facts/openapi/authorization.k8s.io_v1.facts'
import autoscalingV1 from './facts/openapi/autoscaling_v1.facts'
import autoscalingV2 from './facts/openapi/autoscaling_v2.facts'
import batchV1 from './facts/openapi/batch_v1.facts'
import certificatesV1 from './facts/openapi/certificates.k8s.io_v1.facts'
import coordinationV1 from './facts/openapi/coordination.k8s.io_v1.facts'
import coreV1 from './facts/openapi/core_v1.facts'
import discoveryV1 from './facts/openapi/discovery.k8s.io_v1.facts'
import eventsV1 from './facts/openapi/events.k8s.io_v1.facts'
import flowcontrolV1 from './facts/openapi/flowcontrol.apiserver.k8s.io_v1.facts'
import metaV1 from './facts/openapi/meta_v1.facts'
import networkingV1 from './facts/openapi/networking.k8s.io_v1.facts'
import nodeV1 from './facts/openapi/node.k8s.io_v1.facts'
import policyV1 from './facts/openapi/policy_v1.facts'
import rbacAuthorizationV1 from './facts/openapi/rbac.authorization.k8s.io_v1.facts'
import resourceV1 from './facts/openapi/resource.k8s.io_v1.facts'
import schedulingV1 from './facts/openapi/scheduling.k8s.io_v1.facts'
import storageV1 from './facts/openapi/storage.k8s.io_v1.facts'

/** A group version (`apps/v1`, `v1`) with the text of its definitions. `meta` holds what all groups share. */
export const openApiTexts: readonly { group: string; version: string; definitionPrefixes: readonly string[]; text: string }[] = [
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    definitionPrefixes: ['io.k8s.api.admissionregistration.v1'],
    text: admissionregistrationV1,
  },
  {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    definitionPrefixes: ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1'],
    text: apiextensionsV1,
  },
  {
    group: 'apiregistration.k8s.io',
    version: 'v1',
    definitionPrefixes: ['io.k8s.kube-aggregator.pkg.apis.apiregistration.v1'],
    text: apiregistrationV1,
  },
  { group: 'apps', version: 'v1', definitionPrefixes: ['io.k8s.api.apps.v1'], text: appsV1 },
  { group: 'authentication.k8s.io', version: 'v1', definitionPrefixes: ['io.k8s.api.authentication.v1'], text: authenticationV1 },
  { group: 'authorization.k8s.io', version: 'v1', definitionPrefixes: ['io.k8s.api.authorization.v1'], text: authorizationV1 },
  { group: 'autoscaling', version: 'v1', definitionPrefixes: ['io.k8s.api.autoscaling.v1'], text: autoscalingV1 },
  { group: 'autoscaling', version: 'v2', definitionPrefixes: ['io.k8s.api.autoscaling.v2'], text: autoscalingV2 },
  { group: 'batch', version: 'v1', definitionPrefixes: ['io.k8s.api.batch.v1'], text: batchV1 },
  { group: 'certificates.k8s.io', version: 'v1', definitionPrefixes: ['io.k8s.api.certificates.v1'], text: certificatesV1 },
  { group: 'coordination.k8s.io', version: 'v1', definitionPrefixes: ['io.k8s.api.coordination.v1'], text: coordinationV1 },
  { group: '', version: 'v1', definitionPrefixes: ['io.k8s.api.core.v1'], text: coreV1 },
  { group: 'discovery.k8s.io', version: 'v1', definitionPrefixes: ['io.k8s.api.discovery.v1'], text: discoveryV1 },
  { group: 'events.k8s.io', version: 'v1', definitionPrefixes: ['io.k8s.api.events.v1'], text: eventsV1 },
  {
    group: 'flowcontrol.apiserver.k8s.io',
    version: 'v1',
    definitionPrefixes: ['io.k8s.api.flowcontrol.v1'],
    text: flowcontrolV1,
  },
  {
    group: 'meta',
    version: 'v1',
    definitionPrefixes: [
      'io.k8s.apimachinery.pkg.api.resource',
      'io.k8s.apimachinery.pkg.apis.meta.v1',
      'io.k8s.apimachinery.pkg.runtime',
      'io.k8s.apimachinery.pkg.util.intstr',
      'io.k8s.apimachinery.pkg.version',
    ],
    text: metaV1,
  },
  { group: 'networking.k8s.io', version: 'v1', definitionPrefixes: ['io.k8s.api.networking.v1'], text: networkingV1 },
  { group: 'node.k8s.io', version: 'v1', definitionPrefixes: ['io.k8s.api.node.v1'], text: nodeV1 },
  { group: 'policy', version: 'v1', definitionPrefixes: ['io.k8s.api.policy.v1'], text: policyV1 },
  { group: 'rbac.authorization.k8s.io', version: 'v1', definitionPrefixes: ['io.k8s.api.rbac.v1'], text: rbacAuthorizationV1 },
  { group: 'resource.k8s.io', version: 'v1', definitionPrefixes: ['io.k8s.api.resource.v1'], text: resourceV1 },
  { group: 'scheduling.k8s.io', version: 'v1', definitionPrefixes: ['io.k8s.api.scheduling.v1'], text: schedulingV1 },
  { group: 'storage.k8s.io', version: 'v1', definitionPrefixes: ['io.k8s.api.storage.v1'], text: storageV1 },
]
