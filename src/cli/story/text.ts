/** How the story looks: a time, who, what; and at the end what to try. Pure. */
import type pc from 'picocolors'
import type { Told } from './tell.ts'

export type Colours = ReturnType<typeof pc.createColors>

const WHO_WIDTH = 10

export function lineOf({ who, says, more = [] }: Told, afterMs: number, colour: Colours): string {
  const time = `${(afterMs / 1000).toFixed(1)} s`.padStart(8)
  const indent = ' '.repeat(time.length + 2 + WHO_WIDTH + 1)
  const lines = [`${colour.dim(time)}  ${paint(who, colour)} ${says}`, ...more.map((line) => `${indent}${colour.dim(line)}`)]
  return `${lines.join('\n')}\n`
}

const paint = (who: string, colour: Colours): string => {
  const text = who.padEnd(WHO_WIDTH)
  if (who === 'network') return colour.yellow(text)
  if (who === 'failover') return colour.red(text)
  return who === 'you' ? colour.cyan(text) : colour.green(text)
}

/** `member1 2 · member2 2 · member3 2` */
export const divisionText = (division: readonly { name: string; replicas: number }[]): string =>
  division.map(({ name, replicas }) => `${name} ${replicas}`).join(' · ')

/** `a, b and c` */
export function listText(parts: readonly string[]): string {
  const last = parts.at(-1) ?? ''
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`
}

export const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`

export const titleOf = (colour: Colours): string =>
  `${colour.bold('One web, three regions, and a cluster that fails')} ${colour.dim('(sluice up --quiet starts without this story)')}\n\n`

export function nextText(colour: Colours, { kubeconfig, dataDir }: { kubeconfig: string; dataDir: string | undefined }): string {
  const where = dataDir === undefined ? '' : ` --data-dir ${dataDir}`
  const tries: [string, string][] = [
    [`export KUBECONFIG=${kubeconfig}`, ''],
    // As it is found from the folder that `npm start` was typed in, whether or not it is installed.
    ['npx sluice why deployment/web', 'why it is where it is'],
    ['npx sluice get pods', 'the pods of all clusters in one table'],
    ['kubectl scale deployment web --replicas=9', 'north is there again: 3 in each region'],
    ['kubectl --context member1 logs deployment/web', 'a real program; exec works, too'],
    [`npx sluice cluster stop member2${where}`, 'your turn; then: kubectl get clusters -w'],
    ['less examples/fleet/README.md', 'policies, overrides, dependencies, failover'],
  ]
  const width = Math.max(...tries.filter(([, says]) => says !== '').map(([command]) => command.length))
  const lines = tries.map(([command, says]) => (says === '' ? `  ${command}` : `  ${command.padEnd(width)}  ${colour.dim(`# ${says}`)}`))
  return `\n${colour.bold('Sluice stays up. Try next, in another terminal:')}\n\n${lines.join('\n')}\n\nCtrl-C stops it; everything is kept.\n`
}
