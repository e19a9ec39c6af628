/** The results of a replay, for people and for programs: a table per group, then each miss in one line. */
import { table } from '../machine/table.ts'
import type { Case } from './replay/run-all.ts'

export const SHARE_WANTED = 0.95

export interface Group {
  name: string
  passed: number
  failed: number
  apart: number
  apartPassed: number
  /** Of the cases that count. */
  share: number
}

export function groupsOf(cases: Case[]): Group[] {
  const names = [...new Set(cases.map((one) => one.group))].sort()
  return names.map((name) => {
    const members = cases.filter((one) => one.group === name)
    const counted = members.filter((one) => one.apart === undefined)
    const passed = counted.filter(hasPassed).length
    const apart = members.filter((one) => one.apart !== undefined)
    return {
      name,
      passed,
      failed: counted.length - passed,
      apart: apart.length,
      apartPassed: apart.filter(hasPassed).length,
      share: counted.length === 0 ? 1 : passed / counted.length,
    }
  })
}

export function printReport(cases: Case[], groups: Group[], show: number): void {
  const misses = cases.filter((one) => one.apart === undefined && !hasPassed(one))
  for (const [i, miss] of misses.entries()) {
    console.log(`${miss.sequence}  ${miss.name}  ${requestOf(miss)}${i < show ? '' : `  ${miss.differences[0]?.slice(0, 160)}`}`)
    if (i < show) console.log(miss.differences.map((line) => `    ${line}`).join('\n'))
  }
  if (misses.length > 0) console.log('')
  console.log(
    table(
      ['group', 'passed', 'failed', 'share', 'counted apart'],
      groups.map((group) => [group.name, group.passed, group.failed, `${(group.share * 100).toFixed(1)} %`, apartText(group)]),
    ),
  )
  for (const reason of new Set(cases.map((one) => one.apart))) {
    if (reason === undefined) continue
    const sequences = new Set(cases.filter((one) => one.apart === reason).map((one) => one.sequence))
    console.log(`counted apart because a case ${reason}: ${[...sequences].join(', ')}`)
  }
}

const apartText = (group: Group): string => (group.apart === 0 ? '' : `${group.apart}, ${group.apartPassed} of them as recorded`)

export function jsonReport(cases: Case[], groups: Group[]): string {
  const report = cases.map(({ group, sequence, name, step, differences, apart }) => ({
    group,
    sequence,
    name,
    method: step.method,
    path: step.path,
    apart,
    differences,
  }))
  return `${JSON.stringify({ groups, cases: report }, null, 1)}\n`
}

export const hasPassed = (one: Case): boolean => one.differences.length === 0

const requestOf = (one: Case): string => `${one.step.method ?? 'collect'} ${one.step.path ?? one.step.collect}`
