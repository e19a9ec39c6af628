/** A file system and its client, for all ThinRuntimes that name it. */
import { s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { DATA_GROUP } from './groups.ts'
import { imagePullSecrets, volumes } from './parts.ts'
import { thinFuse, thinWorker } from './thin-parts.ts'

const { optional } = s

const spec = s.object(
  {
    fileSystemType: s.string({ description: 'What the file system is called.' }),
    imagePullSecrets,
    worker: thinWorker,
    fuse: thinFuse,
    volumes,
    nodePublishSecretPolicy: s.withDefault(
      s.literals(['NotMountNodePublishSecret', 'MountNodePublishSecretIfExists', 'CopyNodePublishSecretAndMountIfNotExists'], {
        description: 'What happens to the Secret that a volume names for publishing.',
      }),
      'MountNodePublishSecretIfExists',
    ),
  },
  { description: 'Which file system it is.' },
)

export const ThinRuntimeProfile = defineKind({
  group: DATA_GROUP,
  kind: 'ThinRuntimeProfile',
  plural: 'thinruntimeprofiles',
  scope: 'Cluster',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: optional(spec), status: optional(s.object({}, { description: 'Empty.' })) }),
      description: 'ThinRuntimeProfile is a file system and the client that mounts it.',
    },
  },
})

export type ThinRuntimeProfile = ObjectOf<typeof ThinRuntimeProfile, 'v1alpha1'>
