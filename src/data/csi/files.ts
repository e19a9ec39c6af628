/**
 * The driver's side of the meeting with the client of a node: asks for files, waits for them, and holds a generation for a pod.
 * The pod's use is written before the generation is looked for, because the client removes what nobody uses and looks for uses
 * again once it has moved a generation away: whoever finds the directory after that keeps it.
 */
import { sleep } from '../../base/clock.ts'
import { GENERATION, isUser, LARGEST_CONTRACT_FILE, parseVolumeState, requestText } from '../../kube/materialised-volume.ts'
import type { CsiContext, CsiPodContext } from '../../runtime/seams/csi-driver.ts'
import { fileOf, type Place } from './place.ts'
import { type Seen, stuckText, waitingText } from './progress-text.ts'

const FIRST_POLL_MS = 200
const LONGEST_POLL_MS = 2000
/** After this long without any change the pod says where to look. */
const STUCK_MS = 60_000
/** How long a client has to remove files that nobody wants any more. It looks every two seconds. */
const REMOVAL_MS = 10_000

/** From now on the place is not taken away. */
export async function take({ files }: CsiContext, place: Place): Promise<void> {
  if ((await files.kindOf(place.holder)) === undefined) await files.write(place.holder, '')
}

export async function ask({ files }: CsiContext, place: Place): Promise<void> {
  const [file, text] = [place.request(place.id), requestText(place.subPath)]
  if ((await textIn(files, file)) !== text) await files.write(file, text)
}

/** Only of a file: opening anything else could wait without end. */
const textIn = async (files: CsiContext['files'], path: string): Promise<string | undefined> =>
  (await files.kindOf(path)) === 'file' ? files.read(path, LARGEST_CONTRACT_FILE + 1) : undefined

/** Resolves to the generation's directory when the pod has it. */
export async function hold({ files, clock, signal, progress, pod }: CsiPodContext, place: Place): Promise<string> {
  let pollMs = FIRST_POLL_MS
  let last: { text: string; sinceMs: number } | undefined
  for (;;) {
    if (signal.aborted) throw signal.reason
    const seen = await look(files, place)
    if (typeof seen === 'object' && seen.state === 'ready' && seen.generation > 0) {
      const user = `${place.users(place.id, seen.generation)}/${fileOf(pod.uid)}`
      await files.write(user, `${pod.namespace}/${pod.name}\n`)
      const directory = place.generation(place.id, seen.generation)
      if ((await files.kindOf(directory)) === 'directory') return directory
      await files.remove(user)
    }
    const text = waitingText(seen, place)
    if (text !== last?.text) last = { text, sinceMs: clock.now() }
    progress(clock.now() - last.sinceMs < STUCK_MS ? text : stuckText(text, place))
    await sleep(clock, pollMs, signal)
    pollMs = Math.min(LONGEST_POLL_MS, pollMs * 1.5)
  }
}

async function look(files: CsiContext['files'], place: Place): Promise<Seen> {
  const text = await textIn(files, place.stateFile(place.id))
  return text === undefined ? undefined : (parseVolumeState(text, place.id) ?? 'unreadable')
}

/** Of every generation: a driver that was killed may have written its use of several. */
export async function release({ files, pod }: CsiPodContext, place: Place): Promise<void> {
  const user = fileOf(pod.uid)
  for (const number of await files.namesIn(place.allUsers(place.id)))
    if (GENERATION.test(number)) await files.remove(`${place.users(place.id, Number(number))}/${user}`)
}

/** Resolves to whether nobody of this node wants the files any more. */
export async function leave({ files }: CsiContext, place: Place): Promise<boolean> {
  await files.remove(place.holder)
  if (await isWanted(files, place)) return false
  await files.remove(place.request(place.id))
  return true
}

const isWanted = async (files: CsiContext['files'], place: Place): Promise<boolean> => (await files.namesIn(place.holders)).some(isUser)

/** The client removes what nobody wants; where it has left already, nobody else would. */
export async function untilRemoved({ files, clock, signal }: CsiContext, place: Place): Promise<void> {
  const endMs = clock.now() + REMOVAL_MS
  let pollMs = FIRST_POLL_MS
  while (clock.now() < endMs && !signal.aborted && (await files.kindOf(place.generations(place.id))) !== undefined) {
    await sleep(clock, pollMs, signal)
    pollMs = Math.min(LONGEST_POLL_MS, pollMs * 1.5)
  }
  if (signal.aborted) throw signal.reason
}

/** What is left where nobody wants anything. */
export async function removeLeft({ files }: CsiContext, place: Place): Promise<void> {
  if (await isWanted(files, place)) return
  const { id } = place
  const left = [
    place.request(id),
    place.stateFile(id),
    place.generations(id),
    place.allUsers(id),
    place.mountPoints,
    place.records,
    place.holders,
  ]
  for (const path of left) await files.remove(path)
}
