/** A file system that is mounted by a client of its own; without a profile, a dataset that refers to another one. */
import { s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { DATA_GROUP } from './groups.ts'
import { flag, imagePullSecrets, user, volumes } from './parts.ts'
import { management, runtimeReplicas, runtimeStatus, tieredstore } from './runtime-parts.ts'
import { thinFuse, thinWorker } from './thin-parts.ts'

const { optional } = s

const spec = s.object(
  {
    profileName: optional(
      s.reference(
        { to: { group: DATA_GROUP, kind: 'ThinRuntimeProfile' } },
        { description: 'The profile; empty: the dataset refers to another one.' },
      ),
    ),
    worker: thinWorker,
    fuse: thinFuse,
    tieredstore,
    replicas: runtimeReplicas,
    runAs: user('Who runs the processes.'),
    disablePrometheus: flag('Whether there are no metrics.'),
    volumes,
    management,
    imagePullSecrets,
  },
  { description: 'Which file system is wanted.' },
)

export const ThinRuntime = defineKind({
  group: DATA_GROUP,
  kind: 'ThinRuntime',
  plural: 'thinruntimes',
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: optional(spec), status: optional(runtimeStatus) }),
      description: 'ThinRuntime mounts the Dataset of its name with the client of its profile.',
    },
  },
})

export type ThinRuntime = ObjectOf<typeof ThinRuntime, 'v1alpha1'>
