/** The format of the story: a time, who, what; and at the end what to try next. Pure. */
import type pc from 'picocolors'
import type { StoryLine } from '../../runtime/seams/story.ts'

export type Colours = ReturnType<typeof pc.createColors>

const WHO_WIDTH = 10

export function lineOf({ who, says, more = [] }: StoryLine, afterMs: number, colour: Colours): string {
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

export const titleOf = (title: string, colour: Colours): string =>
  `${colour.bold(title)} ${colour.dim('(sluice up --quiet starts without this story)')}\n\n`

export function nextText(colour: Colours, kubeconfig: string, more: readonly (readonly [command: string, shows: string])[]): string {
  const tries: (readonly [string, string])[] = [[`export KUBECONFIG=${kubeconfig}`, ''], ...more]
  const width = Math.max(...tries.filter(([, says]) => says !== '').map(([command]) => command.length))
  const lines = tries.map(([command, says]) => (says === '' ? `  ${command}` : `  ${command.padEnd(width)}  ${colour.dim(`# ${says}`)}`))
  return `\n${colour.bold('Sluice stays up. Try next, in another terminal:')}\n\n${lines.join('\n')}\n\nCtrl-C stops it; everything is kept.\n`
}
