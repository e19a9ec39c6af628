/** Parts that several of Fluid's kinds contain: images, users, options, pods, conditions. Each is optional where it is used. */
import { type Static, s, type Typed } from '../schema/builder.ts'

const { optional } = s

export const text = (description: string) => optional(s.string({ description }))
export const flag = (description: string) => optional(s.boolean({ description }))
export const time = (description: string) => optional(s.time({ description }))
export const count = (description: string) => optional(s.int32({ description }))
export const texts = (description: string) => optional(s.array(s.string(), { description }))
/** Keys and values that an engine interprets. */
export const textMap = (description: string) => optional(s.map(s.string(), { description }))

/** An integer of no said size, as definitions write Go's `int`. */
const anyInteger = { type: 'integer' } as Typed<number>

export const portMap = optional(s.map(anyInteger, { description: 'Ports by the names that the engine gives them.' }))

export const imageFields = {
  image: text('The image, without its tag.'),
  imagePullPolicy: text('When the image is pulled: Always, IfNotPresent or Never.'),
  imageTag: text('The tag of the image.'),
}

export const versionSpec = (description: string) => optional(s.object(imageFields, { description }))

export const podMetadata = optional(
  s.object(
    { annotations: textMap('Annotations of the pods.'), labels: textMap('Labels of the pods.') },
    { description: 'Labels and annotations that pods get in addition.' },
  ),
)

export const user = (description: string) =>
  optional(
    s.object(
      {
        uid: s.int64({ description: 'Numeric id of the user.' }),
        gid: s.int64({ description: 'Numeric id of the group.' }),
        user: s.string({ description: 'Name of the user.' }),
        group: s.string({ description: 'Name of the group.' }),
      },
      { description },
    ),
  )

export const initUsers = optional(
  s.object(
    {
      ...imageFields,
      env: textMap('Environment of the container.'),
      resources: optional(s.kubernetes('ResourceRequirements')),
    },
    { description: 'The container that makes users known before the others start.' },
  ),
)

export const networkMode = optional(
  s.literals(['HostNetwork', '', 'ContainerNetwork'], { description: 'Whose network the pods use; empty: that of the host.' }),
)

/** Fluid has no enumeration for it: OnDemand, OnRuntimeDeleted (also when empty), OnFuseChanged. */
export const cleanPolicy = text('When the mount of a node goes: OnDemand with its last pod, OnRuntimeDeleted (default) with the runtime.')

export const nodeSelector = textMap('Labels of the nodes that pods may run on.')
export const resources = optional(s.kubernetes('ResourceRequirements', { description: 'Amounts of CPU, memory and the like.' }))
export const volumes = optional(
  s.array(s.kubernetes('Volume'), { description: 'Volumes that the volumeMounts of the components can name.' }),
)
export const volumeMounts = optional(s.array(s.kubernetes('VolumeMount'), { description: 'Where volumes are mounted.' }))
export const tolerations = optional(s.array(s.kubernetes('Toleration'), { description: 'Taints of nodes that pods put up with.' }))
export const environment = optional(s.array(s.kubernetes('EnvVar'), { description: 'Environment of the container.' }))
export const imagePullSecrets = optional(s.array(s.kubernetes('LocalObjectReference'), { description: 'Secrets for pulling the images.' }))
export const containerPorts = optional(s.array(s.kubernetes('ContainerPort'), { description: 'Ports of the container.' }))
export const affinity = optional(s.kubernetes('Affinity', { description: 'Where the pods may and should run.' }))

export const encryptOptions = (description: string) =>
  optional(
    s.array(
      s.object({
        name: s.string({ description: 'Name of the option.' }),
        valueFrom: optional(
          s.object({
            secretKeyRef: optional(
              s.object({
                name: s.reference({ to: { group: '', kind: 'Secret' } }, { description: 'A Secret of the same namespace.' }),
                key: text('The key of the Secret.'),
              }),
            ),
          }),
        ),
      }),
      { description },
    ),
  )

export const mount = s.object(
  {
    mountPoint: s.string({ minLength: 5, description: 'Where the data is: s3://bucket/prefix, https://…, pvc://claim, local:///path.' }),
    name: optional(s.string({ minLength: 0, description: 'Name of the mount; without a path it is mounted below this name.' })),
    path: text('Where the data appears in the dataset; default: / and the name.'),
    readOnly: flag('Whether nothing may be written.'),
    shared: flag('Whether other datasets may use the data as well.'),
    options: textMap('Options of the source. They win over those that all mounts share.'),
    encryptOptions: encryptOptions('Options whose values are in Secrets.'),
  },
  { description: 'A source of the data.' },
)

export const nodeAffinity = (description: string) => optional(s.kubernetes('NodeAffinity', { description }))

/** As runtimes and data operations have them. */
export const probedCondition = s.object({
  type: s.string({ description: 'What is said.' }),
  status: s.string({ description: 'True, False or Unknown.' }),
  reason: text('Why, in short.'),
  message: text('For people.'),
  lastProbeTime: time('When it was last looked at.'),
  lastTransitionTime: time('When the status last changed.'),
})

export type Mount = Static<typeof mount>
export type EncryptOption = NonNullable<Mount['encryptOptions']>[number]
export type RuntimeCondition = Static<typeof probedCondition>
