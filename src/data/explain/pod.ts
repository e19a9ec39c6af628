/** What a pod of a member waits for, as far as datasets are concerned: each of its claims that is one of a dataset. */
import type { Client } from '../../client/client.ts'
import { FORBIDDEN, type Got, got } from '../../client/read-as-caller.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { DATASETS } from '../../kinds/fluid/resources.ts'
import { PERSISTENT_VOLUME_CLAIMS } from '../../kinds/kubernetes/resources.ts'
import type { PersistentVolumeClaim, Pod } from '../../kinds/kubernetes/types.ts'
import type { ExplainedObject, Link, Trouble } from '../../runtime/seams/explainer.ts'
import { barIn } from '../bar.ts'
import { sidecarsOf } from '../sidecar/labels.ts'
import { type Commands, commandsFor } from './commands.ts'
import { fillingFix } from './filling.ts'
import { claimsOf } from './input.ts'
import { MOST_SHOWN, short, simulatedBecause, simulationIn, unschedulableFix, waitingOf } from './pods.ts'
import { refusalOf } from './reference.ts'

export interface PodInput {
  pod: Pod
  volumes: readonly { name: string; claim: Got<PersistentVolumeClaim>; dataset: Got<Dataset>; sidecar?: string }[]
  commands: Commands
}

export async function readPodInput(client: Client, pod: Pod, context: string | undefined): Promise<PodInput> {
  const { namespace = '' } = pod.metadata
  const sidecars = new Map(sidecarsOf(pod).map(({ name, container }) => [name, container]))
  const names = [...new Set([...sidecars.keys(), ...claimsOf(pod)])].slice(0, MOST_SHOWN)
  const volumes = names.map(async (name) => {
    const [claim, dataset] = await Promise.all([
      got<PersistentVolumeClaim>(client, PERSISTENT_VOLUME_CLAIMS, { namespace, name }),
      got<Dataset>(client, DATASETS, { namespace, name }),
    ])
    return { name, claim, dataset, sidecar: sidecars.get(name) }
  })
  return { pod, volumes: await Promise.all(volumes), commands: commandsFor(namespace, context) }
}

export function explainPod({ pod, volumes, commands }: PodInput): ExplainedObject {
  const { namespace = '', name = '' } = pod.metadata
  const waiting = waitingOf(pod)
  const because = simulatedBecause(pod)
  const filled = waiting === undefined ? undefined : barIn(waiting.says)
  const own: Link = {
    what: 'pod',
    state: waiting === undefined ? 'ok' : pod.status?.phase === 'Failed' ? 'fails' : 'waits',
    says: waiting?.says ?? `${pod.status?.phase ?? 'Pending'} on ${pod.spec?.nodeName ?? 'no node'}`,
    more: [...(filled === undefined ? [] : [filled]), ...(because === undefined ? [] : [short(`it is simulated: ${because}`)])],
  }
  const context = { namespace, commands, isSimulated: because !== undefined }
  const found = volumes.map((volume) => (volume.sidecar === undefined ? linkOf(volume, context) : sidecarLink(pod, volume, context)))
  const links = [own, ...found.map(({ link }) => link)]
  const says = found.length === 0 ? `${own.says}; it uses no claim` : own.says
  // A pod that is well has no trouble, whatever has become of its dataset since.
  if (waiting === undefined || own.state === 'ok') return { links, says }
  const broken = found.find(({ link, fix }) => link.state !== 'ok' && fix !== undefined)
  const trouble: Trouble = {
    state: own.state,
    says: broken === undefined ? waiting.says : `${waiting.says}; ${broken.link.says}`,
    fix:
      broken?.fix ??
      writingFix(waiting.says) ??
      fillingFix(waiting.says, { pod, volumes, commands }) ??
      fixOf(waiting.unschedulable, name, commands),
  }
  return { links, says, trouble }
}

/** How far a client is that is a container of the pod itself. */
function sidecarLink(
  pod: Pod,
  { name, sidecar: container = '' }: PodInput['volumes'][number],
  { commands }: Context,
): { link: Link; fix?: string } {
  const { name: of = '' } = pod.metadata
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
  const { state, lastState, started, ready } = statuses.find((one) => one.name === container) ?? {}
  const by = `Dataset ${name} comes by the sidecar ${container}`
  const link = (is: Link['state'], says: string): Link => ({
    what: 'sidecar',
    state: is,
    says: short(`${by}${says}`),
    more: [commands.here(`sluice why dataset/${name}`)],
  })
  const end = state?.terminated ?? (state?.waiting === undefined ? undefined : lastState?.terminated)
  if (end !== undefined && end.exitCode !== 0) {
    const why = end.message ?? `exit code ${end.exitCode ?? 0}`
    return { link: link('waits', `, which failed: ${why}`), fix: `see its log: ${commands.here(`kubectl logs ${of} -c ${container}`)}` }
  }
  if (end !== undefined) return { link: link('ok', ', which is done') }
  if (state?.running === undefined) return { link: link('waits', ', which has not started') }
  return started === true || ready === true ? { link: link('ok', ', which is ready') } : { link: link('waits', ', which is not ready yet') }
}

/** The driver says it itself. */
const writingFix = (says: string): string | undefined => /needs FUSE.*?\. (To read, .*)$/s.exec(says)?.[1]

const fixOf = (unschedulable: string | undefined, pod: string, commands: Commands): string =>
  unschedulable === undefined || unschedulable.includes('anti-affinity')
    ? `see its events: ${commands.here(`kubectl describe pod/${pod}`)}`
    : unschedulable.includes('fluid.io/') || unschedulable.includes('affinity')
      ? `see which nodes it demands: ${commands.here(`kubectl get pod/${pod} -o yaml`)}; nodes with a cache are labelled fluid.io/s-…`
      : unschedulableFix(unschedulable, true)

interface Context {
  namespace: string
  commands: Commands
  isSimulated: boolean
}

function linkOf(
  { name, claim, dataset }: PodInput['volumes'][number],
  { namespace, commands, isSimulated }: Context,
): { link: Link; fix?: string } {
  const why = commands.here(`sluice why dataset/${name}`)
  const link = (state: Link['state'], says: string, more: readonly string[] = []): Link => ({ what: 'volume', state, says, more })
  if (dataset === FORBIDDEN) return { link: link('ok', `claim ${name}: whether it is one of a Dataset may not be read by you`) }
  if (dataset === undefined && claim === undefined)
    return {
      link: link('waits', `there is neither a claim ${name} nor a Dataset`),
      fix: `create the Dataset ${name} in namespace ${namespace}, or the claim`,
    }
  if (dataset === undefined) return { link: link('ok', `claim ${name}: not one of a Dataset`) }
  const refusal = refusalOf(dataset)
  if (refusal !== undefined) return { link: link('waits', `claim ${name}: ${short(refusal.says)}`, [why]), fix: refusal.fix }
  const phase = dataset.status?.phase || 'NotBound'
  const isThere = claim !== undefined && claim !== FORBIDDEN
  if (isThere && claim.metadata.deletionTimestamp !== undefined)
    return {
      link: link('waits', `claim ${name} is being deleted; Dataset ${name} is ${phase}`, [why]),
      fix: `wait until the pods that use claim ${name} have ended, or delete them: ${commands.here(`kubectl describe pvc/${name}`)}. If the Dataset is bound then, the claim comes again`,
    }
  if (isThere || ['Bound', 'Updating', 'DataMigrating'].includes(phase)) {
    const says = `claim ${name}: Dataset ${name} is ${phase}`
    const simulated = simulationIn(dataset)
    // Nothing runs in a pod that is simulated either: it needs no files.
    if (simulated !== undefined && !isSimulated && phase !== 'Failed')
      return {
        link: link('waits', `${says}, and simulated, so it has no files`, [short(simulated), why]),
        fix: `give Dataset ${name} a runtime that runs here, for example a CacheRuntime with runtimeClassName: builtin; or let the pod be simulated, too: annotation sluice.dev/run: simulated`,
      }
    return phase === 'Failed' ? { link: link('fails', says, [why]), fix: `see why it fails: ${why}` } : { link: link('ok', says, [why]) }
  }
  return {
    link: link('waits', `claim ${name} comes when Dataset ${name} is bound, and it is ${phase}`, [why]),
    fix: `see what the Dataset waits for: ${why}`,
  }
}
