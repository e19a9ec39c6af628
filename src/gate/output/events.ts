/**
 * Events on a workload about what it makes. Texts never say who else makes data of the same name, in which namespace: that
 * is not for this one to know.
 */
import { type DataName, dataNameText, quoted } from '../../kinds/volcano/annotations.ts'
import { PRODUCES_ANNOTATION } from '../../kinds/volcano/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { EventIntent } from '../../runtime/controller.ts'
import type { Decision } from './decide.ts'

const NOT_PUBLISHED = 'NotPublished'

const textOf = (name: DataName): string => quoted(dataNameText(name))

const warning = (of: KubeObject, reason: string, message: string): EventIntent => ({ of, type: 'Warning', reason, message })

export interface Published {
  name: DataName
  source: string
  version: string
  clusters: readonly string[]
}

export const published = (of: KubeObject, { name, source, version, clusters }: Published): EventIntent => ({
  of,
  type: 'Normal',
  reason: 'Published',
  message: `${textOf(name)} is published as DataSource ${source}, version ${version}, in ${clusters.join(', ')}.`,
})

export const alsoMadeElsewhere = (of: KubeObject, name: DataName): EventIntent =>
  warning(
    of,
    'AlsoMadeElsewhere',
    `${textOf(name)} is made outside this namespace, too. Claims of this namespace take what is made here; claims of other namespaces ` +
      'may take the older source. Choose another name if that is not meant.',
  )

export const notPublished = (of: KubeObject, name: DataName, { because, source }: Extract<Decision, { do: 'refuse' }>): EventIntent =>
  warning(
    of,
    NOT_PUBLISHED,
    because === 'stands'
      ? `${textOf(name)} is not published: DataSource ${source} stands for it, which no workload made, and it is never changed. ` +
          'Have that DataSource deleted, or make data of another name.'
      : `${textOf(name)} is not published: there is a DataSource ${source} that was not made for it here. Have it deleted, then it is made anew.`,
  )

export const publishFailed = (of: KubeObject, name: DataName, why: string): EventIntent =>
  warning(of, NOT_PUBLISHED, `${textOf(name)} is not published yet: ${why}`)

export const unreadable = (of: KubeObject, error: string): EventIntent =>
  warning(of, NOT_PUBLISHED, `The annotation ${PRODUCES_ANNOTATION} cannot be read: ${error}`)

export const neverFinishes = (of: KubeObject): EventIntent =>
  warning(
    of,
    'NeverFinishes',
    `A ${of.kind} has no end, so what ${PRODUCES_ANNOTATION} declares is never published. Let a Job make it, or remove the annotation.`,
  )

export const unknownKind = (of: KubeObject): EventIntent =>
  warning(
    of,
    NOT_PUBLISHED,
    `It is not known when a ${of.kind} of ${of.apiVersion} has succeeded, so what ${PRODUCES_ANNOTATION} declares is never published. ` +
      'Let a Job make it, or remove the annotation.',
  )
