/** Replaces in kubectl's output what differs from run to run, and keeps of it what the step compares. */
import type { SessionStep } from './session.ts'

/** The places and names of one replay. */
export interface Place {
  namespace: string
  folder: string
  server: string
  short: string
  /** Our own API groups, which are served in addition to those of the recording: discovery lists them, too. */
  ownGroups?: readonly string[]
}

const RANDOM = '[bcdfghjklmnpqrstvwxz2456789]'

export function normaliseOutput(output: string, place: Place, step: SessionStep): string {
  if (output === '') return output
  let text = labelled(output, place)
  if (step.table && !step.cmd.includes('node-1')) text = text.replace(/\bnode-[01]\b/g, '<node>')
  if (step.filtered) text = structuralLines(text)
  if (/^api-(resources|versions)\b/.test(step.cmd)) text = withoutGroups(text, place.ownGroups ?? [])
  if (/^version\b/.test(step.cmd)) text = versionOutput(text)
  if (step.table) text = tableCells(text)
  if (step.sortLines) text = `${text.split('\n').sort().join('\n').trim()}\n`
  if (step.last) text = `${text.trim().split('\n').at(-1)}\n`
  if (step.firstLine) text = `${text.split('\n')[0]}\n`
  return text
}

function labelled(output: string, place: Place): string {
  return output
    .replaceAll(place.namespace, '<ns>')
    .replaceAll(`${place.folder}/`, '')
    .replaceAll(place.folder, '<dir>')
    .replaceAll(place.server, '<server>')
    .replaceAll(`wd${place.short}`, 'wd<short>')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, '<uid>')
    .replace(/20(?:2[5-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g, '<time>')
    .replace(/20(?:2[5-9]|[3-9]\d)-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}/g, '<time>')
    .replace(/(resourceVersion"?: ?"?)\d+/g, '$1<rv>')
    .replace(new RegExp(`\\b(web)-([0-9a-z]{8,10})-(${RANDOM}{5})\\b`, 'g'), '$1-<hash>-<rand>')
    .replace(new RegExp(`\\b(web)-(${RANDOM}{8,10})\\b`, 'g'), '$1-<hash>')
    .replace(/(pod-template-hash[=:]\s?)([0-9a-z]{8,10})\b/g, '$1<hash>')
    .replace(/\b10\.(?:0|9[6-9]|1[01]\d)\.\d+\.\d+\b/g, '<clusterIP>')
    .replace(/\b10\.244\.\d+\.\d+\b/g, '<podIP>')
    .replace(new RegExp(`\\bs1-(${RANDOM}{5})\\b`, 'g'), 's1-<rand>')
    .replace(/\/[^\s"]*\/(LIVE|MERGED)-\d+/g, '<tmp>/$1-<n>')
    .replace(/kubectl-edit-\d+\.yaml/g, 'kubectl-edit-<n>.yaml')
}

/** Build details differ by nature; our server reports that it is not the real one. */
function versionOutput(text: string): string {
  return text
    .replace(/"(gitCommit|buildDate|goVersion|platform|gitTreeState)": "[^"]*"/g, '"$1": "<build>"')
    .replace(/("gitVersion": "[^"+]*)\+sluice"/g, '$1"')
}

/** Groups are written `group/version` or `plural.group`. */
function withoutGroups(text: string, groups: readonly string[]): string {
  const isOwn = (word: string): boolean => groups.some((group) => word.startsWith(`${group}/`) || word.endsWith(`.${group}`))
  return text
    .split('\n')
    .filter((line) => !line.split(/\s+/).some(isOwn))
    .join('\n')
}

/** Of `explain`, the lines that name kinds and fields; descriptions are prose. */
function structuralLines(text: string): string {
  const isStructural = (line: string): boolean =>
    /^(KIND|VERSION|GROUP|FIELD|FIELDS|RESOURCE):/.test(line) || /^\s*\S+\t<.*>/.test(line) || /^error/.test(line)
  return `${text.split('\n').filter(isStructural).join('\n')}\n`
}

function tableCells(text: string): string {
  return text
    .replace(/(?<=\s)(\d+[ydhms])+(?=\s|$)/gm, '<age>')
    .replace(/<invalid>/g, '<age>')
    .split('\n')
    .map((line) => line.replace(/(\S) {2,}/g, '$1  ').replace(/\s+$/, ''))
    .join('\n')
}
