/**
 * What `sluice why` says about datasets that refer to each other: of a reference its original and the consent of that one's owner, of
 * an original who refers to it. Another namespace is read with the rights of the caller; without them nothing is said that the
 * reference does not say itself. Pure.
 */
import { FORBIDDEN } from '../../client/read-as-caller.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { type Original, referenceOf } from '../../kinds/fluid/reference.ts'
import { findCondition } from '../../kube/conditions.ts'
import type { Link } from '../../runtime/seams/explainer.ts'
import { withheldText } from '../reference/consent.ts'
import type { Commands } from './commands.ts'
import type { Step } from './components.ts'
import type { DatasetInput } from './input.ts'
import { MOST_SHOWN, short } from './pods.ts'

/** Empty: the dataset has sources of its own. */
export function originalSteps({ dataset, original, commands }: Pick<DatasetInput, 'dataset' | 'original' | 'commands'>): Step[] {
  const referred = referenceOf(dataset)
  if (referred === undefined) return []
  const refusal = refusalOf(dataset)
  if (refusal !== undefined) return [{ link: { what: 'consent', state: 'waits', says: short(refusal.says) }, fix: refusal.fix }]
  const where = `Dataset ${referred.namespace}/${referred.name}${referred.subPath === '' ? '' : `, of which it is ${referred.subPath}`}`
  const complaint = findCondition(dataset.status?.conditions, 'NotReady')
  const uncopied = findCondition(dataset.status?.conditions, 'Mirrored')?.message
  const why = commands.inCluster(`sluice why dataset/${referred.name} -n ${referred.namespace}`)
  const more = [...seenOf(original, why), ...(uncopied === undefined ? [] : [short(uncopied)])]
  const link = (state: Link['state'], says: string): Link => ({
    what: 'original',
    state,
    says: short(says),
    ...(more.length === 0 ? {} : { more }),
  })
  if (complaint === undefined) return [{ link: link('ok', where) }]
  const fix =
    original === undefined || original === FORBIDDEN
      ? `see what it says, or ask whoever owns namespace ${referred.namespace}`
      : `see what it waits for: ${why}`
  return [{ link: link(dataset.status?.phase === 'Failed' ? 'fails' : 'waits', complaint.message ?? where), fix }]
}

/** Why it may not be used, and whom to ask; undefined: it may be, or refers to none. */
export function refusalOf(dataset: Dataset): { says: string; fix: string } | undefined {
  const referred = referenceOf(dataset)
  const says = referred === undefined ? undefined : refusalIn(dataset, referred)
  if (referred === undefined || says === undefined) return undefined
  const { namespace } = dataset.metadata
  const fix = `ask whoever owns namespace ${referred.namespace} for a ReferenceGrant there: from kind Dataset (data.fluid.io) of namespace ${namespace} to kind Dataset`
  return { says, fix }
}

/** In the reference's own words. */
function refusalIn({ metadata, status }: Dataset, referred: Original): string | undefined {
  const withdrawn = findCondition(status?.conditions, 'ConsentWithdrawn')
  if (withdrawn?.status === 'True') return withdrawn.message ?? 'consent was withdrawn'
  const message = findCondition(status?.conditions, 'NotReady')?.message
  return message === withheldText(metadata.namespace ?? '', referred) ? message : undefined
}

function seenOf(original: DatasetInput['original'], why: string): string[] {
  if (original === undefined) return []
  if (original === FORBIDDEN) return ['it may not be read by you']
  return [`it is ${original.status?.phase || 'NotBound'}: ${why}`]
}

/** Undefined: nobody refers to it. */
export function referencesStep({ dataset }: Pick<DatasetInput, 'dataset'>): Step | undefined {
  const { datasetRef = [], conditions } = dataset.status ?? {}
  const notes = ['ConsentWithdrawn', 'ReferencesUnlisted'].flatMap((type) => findCondition(conditions, type)?.message ?? [])
  if (referenceOf(dataset) !== undefined || datasetRef.length + notes.length === 0) return undefined
  const says = datasetRef.length === 1 ? '1 dataset refers to it' : `${datasetRef.length} datasets refer to it`
  const shown = [
    ...datasetRef.slice(0, MOST_SHOWN),
    ...(datasetRef.length > MOST_SHOWN ? [`and ${datasetRef.length - MOST_SHOWN} more`] : []),
  ]
  return { link: { what: 'references', state: 'ok', says, more: [...shown, ...notes].map(short) } }
}

/** What to do about a deletion that references hold; undefined: they do not. */
export function heldByReferences({ status }: Dataset, commands: Commands): string | undefined {
  const held = findCondition(status?.conditions, 'DeletionHeld')
  if (held?.reason !== 'DatasetsUseIt') return undefined
  const [first = ''] = status?.datasetRef ?? []
  const [namespace, name] = first.split('/')
  return `delete the datasets that refer to it${name === undefined ? '' : `, first ${commands.inCluster(`kubectl delete dataset/${name} -n ${namespace}`)}`}`
}
