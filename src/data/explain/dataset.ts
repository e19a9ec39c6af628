/**
 * Why a dataset is served, or why it is not: the dataset, its runtime and class, the pods of each component, the sources, the
 * volume, and those who read it. Pure. The first link that does not hold says what to do.
 */

import { FORBIDDEN } from '../../client/read-as-caller.ts'
import type { Dataset, DatasetCondition } from '../../kinds/fluid/index.ts'
import { isReference } from '../../kinds/fluid/reference.ts'
import { ANNOTATIONS, CREATED_BY_FLUID } from '../../kinds/fluid/well-known.ts'
import { findCondition } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ExplainedObject, Link, Trouble } from '../../runtime/seams/explainer.ts'
import { bar } from '../bar.ts'
import { SERVED_CONDITION } from '../engines/engine.ts'
import { SCALE_IN_HELD } from '../scaling/texts.ts'
import { componentSteps, type Step } from './components.ts'
import { classNameOf, type DatasetInput, hasSidecar, usersOf } from './input.ts'
import { firstWaiting, MOST_SHOWN, podLines, short, simulationIn } from './pods.ts'
import { heldByReferences, originalSteps, referencesStep } from './reference.ts'
import { classFix, fixOfRefusal } from './refusals.ts'

/** Phases in which pods can use the dataset. */
const BOUND_PHASES = ['Bound', 'Updating', 'DataMigrating']

export function explainDataset(input: DatasetInput): ExplainedObject {
  const steps = [
    deletionStep(input),
    ...runtimeSteps(input),
    // The pods of a reference are those of its original, in another namespace.
    ...(isReference(input.dataset)
      ? originalSteps(input)
      : [...componentSteps(input), scaleInStep(input), sourcesStep(input), referencesStep(input)]),
    volumeStep(input),
    readersStep(input),
  ].filter((step) => step !== undefined)
  const broken = steps.find(({ link, fix }) => link.state !== 'ok' && fix !== undefined)
  const trouble: Trouble | undefined =
    broken?.fix === undefined || broken.link.state === 'ok'
      ? undefined
      : { state: broken.link.state, says: `${broken.link.what}: ${broken.link.says}`, fix: broken.fix }
  const { namespace = '', name = '' } = input.dataset.metadata
  return {
    links: [datasetLink(input), ...steps.map(({ link }) => link)],
    says: `it is ${phaseOf(input.dataset)}: pods of namespace ${namespace} mount it with the claim ${name}`,
    ...(trouble === undefined ? {} : { trouble }),
  }
}

const phaseOf = ({ status }: Dataset): string => status?.phase || 'NotBound'
const isBound = (dataset: Dataset): boolean => BOUND_PHASES.includes(phaseOf(dataset))

function datasetLink({ dataset }: DatasetInput): Link {
  const { ufsTotal, fileNum, cacheStates = {} } = dataset.status ?? {}
  const phase = phaseOf(dataset)
  const figures = [
    ...(ufsTotal ? [`${ufsTotal} at its sources`] : []),
    ...(fileNum ? [`${fileNum} files`] : []),
    ...(cacheStates.cached ? [`${cacheStates.cached} cached`] : []),
  ]
  const since = isBound(dataset) ? findCondition(dataset.status?.conditions, 'Ready')?.lastTransitionTime : undefined
  const percent = Number.parseFloat(cacheStates.cachedPercentage ?? '')
  const simulated = simulationIn(dataset)
  const ignored = findCondition(dataset.status?.conditions, 'RequestIgnored')?.message
  const more = [
    ...(figures.length === 0 ? [] : [short(figures.join(', '))]),
    ...(Number.isNaN(percent) ? [] : [`${bar(percent)} ${cacheStates.cachedPercentage} cached`]),
    ...(simulated === undefined ? [] : [short(`it is simulated: ${simulated}`)]),
    ...(ignored === undefined ? [] : [short(ignored)]),
  ]
  return {
    what: 'dataset',
    state: phase === 'Failed' ? 'fails' : isBound(dataset) ? 'ok' : 'waits',
    says: since === undefined ? phase : `${phase} since ${since}`,
    ...(more.length === 0 ? {} : { more }),
  }
}

function deletionStep({ dataset, pods, commands }: DatasetInput): Step | undefined {
  const { deletionTimestamp, finalizers = [], name = '' } = dataset.metadata
  if (deletionTimestamp === undefined) return undefined
  const held = findCondition(dataset.status?.conditions, 'DeletionHeld')?.message
  const link: Link = {
    what: 'deletion',
    state: 'waits',
    says: 'it is being deleted',
    ...(held === undefined ? {} : { more: [short(held)] }),
  }
  const [reader] = usersOf(pods.items, name)
  const fix =
    reader === undefined
      ? (heldByReferences(dataset, commands) ??
        `nothing, if it is gone in a moment; else see who has to remove its finalizers: ${finalizers.slice(0, MOST_SHOWN).join(', ')}`)
      : `delete the pods that read it, first ${reader.metadata.name}: ${commands.here(`kubectl delete pod/${reader.metadata.name}`)}`
  return { link, fix }
}

function runtimeSteps(input: DatasetInput): (Step | undefined)[] {
  const { dataset, runtimes, hidden } = input
  const { namespace = '', name = '' } = dataset.metadata
  const [runtime, second] = runtimes
  const step = (state: Link['state'], says: string, fix?: string): Step => ({
    link: { what: 'runtime', state, says: short(says) },
    ...(fix === undefined ? {} : { fix }),
  })
  if (runtime === undefined && hidden.length > 0) return [step('waits', `runtimes may not be read by you: ${hidden.join(', ')}`)]
  if (runtime === undefined) {
    const fix = `create a runtime of that name in namespace ${namespace}, for example a CacheRuntime with runtimeClassName: builtin`
    return [step('waits', `there is no runtime of the name ${name}`, fix)]
  }
  if (second !== undefined) {
    const kinds = runtimes.map(({ kind }) => kind).join(' and ')
    return [step('fails', `a ${kinds} have its name, and it can have one runtime`, `delete one of them: a ${kinds} are called ${name}`)]
  }
  return [servedStep(input, runtime), classStep(input, runtime)]
}

interface Condition {
  type: string
  status: string
  reason?: string
  message?: string
}

function servedStep({ dataset, commands }: DatasetInput, runtime: KubeObject): Step {
  const { kind, metadata, status } = runtime
  const { name } = metadata
  const step = (state: Link['state'], says: string, fix?: string): Step => ({
    link: { what: 'runtime', state, says: short(`${kind} ${name}${says}`) },
    ...(fix === undefined ? {} : { fix }),
  })
  if (metadata.deletionTimestamp !== undefined)
    return step('waits', ' is being deleted', 'nothing, if it is gone in a moment; then create a runtime of the name again')
  const served = findCondition((status as { conditions?: Condition[] } | undefined)?.conditions, SERVED_CONDITION)
  if (served === undefined)
    return step(
      'waits',
      ' was not looked at yet',
      `wait a moment; if it stays like this, see whether the controllers run: ${commands.inCluster('kubectl get leases -A')}`,
    )
  const because = served.message ? `: ${served.message}` : ''
  if (served.status === 'True')
    return step('ok', served.reason === 'ServedByBuiltin' ? ` is served by the builtin cache${because}` : ' is served')
  // The runtime of a reference waits for its dataset, and what that waits for is the next step.
  if (served.reason === 'NotBound' && isReference(dataset)) return step('waits', ' waits until its Dataset is bound')
  return step(
    'fails',
    ` is not served, ${served.reason ?? 'for a reason that it does not say'}${because}`,
    fixOfRefusal({ runtime, dataset, reason: served.reason, message: served.message, commands }),
  )
}

/** Who reads is said as the condition says it: of other namespaces only how many. */
function scaleInStep({ runtimes, commands }: DatasetInput): Step | undefined {
  const [runtime] = runtimes
  const held = findCondition((runtime?.status as { conditions?: Condition[] } | undefined)?.conditions, SCALE_IN_HELD)
  if (runtime === undefined || held === undefined) return undefined
  if (held.reason === 'AwaitsMaster') {
    const fix = `wait for the master of ${runtime.kind} ${runtime.metadata.name}: ${commands.here('kubectl get pods')}`
    return { link: { what: 'scale-in', state: 'waits', says: short(held.message ?? '') }, fix }
  }
  const fix = `nothing, if the pods end by themselves; else end them, or ask for as many workers as there are: ${commands.here(`kubectl scale ${runtime.kind.toLowerCase()}/${runtime.metadata.name}`)}`
  return { link: { what: 'scale-in', state: 'waits', says: short(held.message ?? '') }, fix }
}

function classStep({ runtimeClass, commands }: DatasetInput, runtime: KubeObject): Step | undefined {
  const name = classNameOf(runtime)
  if (name === undefined) return undefined
  const link = (state: Link['state'], says: string): Link => ({ what: 'class', state, says: short(says) })
  if (runtimeClass === FORBIDDEN) return { link: link('ok', `CacheRuntimeClass ${name}, which may not be read by you`) }
  if (runtimeClass !== undefined) return { link: link('ok', `CacheRuntimeClass ${name}`) }
  return { link: link('fails', `there is no CacheRuntimeClass ${name}`), fix: classFix(runtime, commands) }
}

/** The newest thing that its conditions complain about. */
function complaintOf({ status }: Dataset): DatasetCondition | undefined {
  const isComplaint = ({ type }: DatasetCondition) => type === 'NotReady' || type === 'Updating'
  const complaints = (status?.conditions ?? []).filter((one) => one.status === (isComplaint(one) ? 'True' : 'False'))
  return complaints.find(({ message }) => message) ?? complaints[0]
}

function sourcesStep({ dataset, runtimes, commands }: DatasetInput): Step | undefined {
  const edit = commands.here(`kubectl edit dataset/${dataset.metadata.name}`)
  const check = `check the address of the source, its options and its Secrets in mounts of the Dataset: ${edit}`
  const mounts = dataset.spec?.mounts ?? []
  const all = mounts.map(({ mountPoint, name, path }) => `${mountPoint} at ${path || `/${name ?? ''}`}`)
  const more = [...all.slice(0, MOST_SHOWN).map(short), ...(all.length > MOST_SHOWN ? [`and ${all.length - MOST_SHOWN} more`] : [])]
  const count = mounts.length === 1 ? '1 source' : `${mounts.length} sources`
  const unlisted = findCondition(dataset.status?.conditions, 'SourcesListed')
  if (isBound(dataset) && unlisted?.status === 'False')
    return { link: { what: 'sources', state: 'waits', says: short(`${count} mounted; ${unlisted.message}`), more }, fix: check }
  if (isBound(dataset) && phaseOf(dataset) !== 'Updating') return { link: { what: 'sources', state: 'ok', says: `${count} mounted`, more } }
  if (runtimes.length !== 1) return { link: { what: 'sources', state: 'waits', says: count, more } }
  const { reason, message } = complaintOf(dataset) ?? {}
  const complaint = [reason, message].filter((text) => text).join(': ')
  const state = phaseOf(dataset) === 'Failed' ? 'fails' : 'waits'
  return {
    link: { what: 'sources', state, says: short(complaint === '' ? `${count}, not mounted yet` : complaint), more },
    fix: complaint === '' ? 'wait a moment: sources are mounted as soon as the master and a worker are ready' : check,
  }
}

function volumeStep({ dataset, volume, claim, commands }: DatasetInput): Step {
  const { namespace = '', name = '' } = dataset.metadata
  const step = (state: Link['state'], says: string, fix?: string): Step => ({
    link: { what: 'volume', state, says },
    ...(fix === undefined ? {} : { fix }),
  })
  const describe = commands.here(`kubectl describe pvc/${name}`)
  if (claim === FORBIDDEN) return step('ok', 'its claim may not be read by you')
  const isOurs = claim?.metadata.annotations?.[ANNOTATIONS.createdBy] === CREATED_BY_FLUID
  if (claim !== undefined && !isOurs)
    return step(
      'fails',
      `a claim ${name} is there that was not made for it`,
      `delete the claim (${commands.here(`kubectl delete pvc/${name}`)}), or give the Dataset another name`,
    )
  if (!isBound(dataset)) return step(claim === undefined ? 'waits' : 'ok', claim === undefined ? 'comes when it is bound' : `claim ${name}`)
  if (claim === undefined && dataset.metadata.deletionTimestamp !== undefined) return step('waits', 'its claim is gone already')
  if (claim === undefined) {
    const isTaken = volume !== undefined && volume !== FORBIDDEN && volume.spec?.claimRef?.namespace !== namespace
    return isTaken
      ? step('fails', `the volume ${volume.metadata.name} belongs to a dataset of another namespace`, 'give the Dataset another name')
      : step('waits', 'it has no claim yet', `wait a moment; if it stays like this: ${commands.here('kubectl get events')}`)
  }
  if (claim.metadata.deletionTimestamp !== undefined)
    return step('waits', `claim ${name} is being deleted`, `delete the pods that use it: ${describe}`)
  const phase = claim.status?.phase ?? 'Pending'
  return phase === 'Bound' ? step('ok', `claim ${name} is Bound`) : step('waits', `claim ${name} is ${phase}`, `see why: ${describe}`)
}

function readersStep({ dataset, pods, commands }: DatasetInput): Step {
  const { name = '' } = dataset.metadata
  if (pods.isForbidden) return { link: { what: 'readers', state: 'ok', says: 'pods may not be read by you' } }
  const readers = usersOf(pods.items, name)
  const more = [...podLines(readers), ...(pods.isCut ? ['the namespace has more pods than were looked at'] : [])]
  const waiting = firstWaiting(readers)
  const own = readers.filter((pod) => hasSidecar(pod, name)).length
  const by = readers.length - own
  const says = [
    ...(by > 0 || own === 0 ? [by === 0 ? 'no pod uses its claim' : by === 1 ? '1 pod uses its claim' : `${by} pods use its claim`] : []),
    ...(own === 0 ? [] : [own === 1 ? '1 pod reads it by a sidecar' : `${own} pods read it by a sidecar`]),
  ].join(', ')
  const link: Link = { what: 'readers', state: waiting === undefined ? 'ok' : 'waits', says, ...(more.length === 0 ? {} : { more }) }
  if (waiting === undefined) return { link }
  const pod = waiting.pod.metadata.name ?? ''
  return {
    link: { ...link, says: `${says}; ${pod} ${waiting.waiting.says}` },
    fix: `see what it waits for: ${commands.here(`sluice why pod/${pod}`)}`,
  }
}
