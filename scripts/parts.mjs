// Runs the parts of a test run: a line when each ends, the end of the output of what failed, one table at the end, and the
// closing line `N passed, M failed[, K skipped]`. Shared by scripts/test.mjs and scripts/ci.mjs.
//
// A part is { name, group?, command: [file, ...args], minutes?, again?, lane? }. Its counts are read from its own closing line
// or from node --test; a part without either counts as one. A part that ends with exit code 0 has no failures: what it
// tolerates (recorded cases that are documented as different) is its own business. `skipped: REASON` and `flaky: NAME` lines
// and skips of node --test are taken over. `again` is explained in parts/run-part.mjs. Parts come in stages: a stage begins when
// the one before has ended. In a stage, parts of one lane run one after the other, and the lanes beside each other.
import { mkdirSync } from 'node:fs'
import { columns } from './columns.mjs'
import { runPart } from './parts/run-part.mjs'

const SHOWN_LINES = 80
const SHOWN_FAILURES = 20

export async function runParts(stages, { logs, only, out = process.stdout }) {
  mkdirSync(logs, { recursive: true })
  const isChosen = choice(stages.flat(), only)
  const results = []
  for (const stage of stages) {
    const parts = stage.filter(isChosen)
    const lanes = [...new Set(parts.map(laneOf))].map((lane) => parts.filter((part) => laneOf(part) === lane))
    const ended = new Map()
    await Promise.all(lanes.map((lane) => inTurn(lane, { logs, ended, out, isAlone: lanes.length === 1 })))
    results.push(...parts.map((part) => ended.get(part)))
  }
  return results
}

const laneOf = ({ lane = '' }) => lane

async function inTurn(lane, { logs, ended, out, isAlone }) {
  for (const part of lane) {
    // Progress is printed only where no other lines can come in between.
    if (isAlone) out.write(`${part.name} … `)
    const result = await runPart(part, logs)
    ended.set(part, result)
    out.write(`${isAlone ? '' : `${part.name} … `}${said(result)}, ${result.seconds.toFixed(1)} s\n`)
    if (result.failed > 0) out.write(`${excerpt(result)}\n`)
  }
}

export function summarise(results, out = process.stdout) {
  const say = (line) => out.write(`${line}\n`)
  const passed = sum(results.map((result) => result.passed))
  const failed = sum(results.map((result) => result.failed))
  const skipped = results.flatMap((result) => result.skipped.map((reason) => `${result.name}: ${reason}`))
  const rows = results.map((result) => [
    result.name,
    ...[result.passed, result.failed, result.skipped.length, result.flaky.length].map(String),
    result.seconds.toFixed(1),
    result.cpuSeconds?.toFixed(1) ?? '–',
  ])
  say(`\n${columns([['part', 'passed', 'failed', 'skipped', 'flaky', 'seconds', 'CPU seconds'], ...rows])}`)
  for (const reason of skipped) say(`skipped: ${reason}`)
  for (const { name, flaky } of results) for (const test of flaky) say(`flaky: ${name}: ${test}`)
  for (const { name, failures } of results)
    for (const { name: test, why } of failures.slice(0, SHOWN_FAILURES))
      say(`failed: ${name}: ${test}${why === undefined ? '' : `\t${why}`}`)
  say(`${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`)
  return failed === 0 && results.length > 0 ? 0 : 1
}

function choice(parts, only) {
  if (only === undefined) return () => true
  const wanted = only.split(',')
  const known = new Set(parts.flatMap((part) => [part.name, part.group]))
  const unknown = wanted.filter((name) => !known.has(name))
  if (unknown.length > 0) {
    console.error(`no such part: ${unknown.join(', ')} (there are: ${[...known].filter(Boolean).join(', ')})`)
    process.exit(2)
  }
  return (part) => wanted.includes(part.name) || wanted.includes(part.group)
}

function said({ passed, failed, skipped, flaky }) {
  if (failed > 0) return `FAILED (${failed} of ${passed + failed})`
  const more = [...(skipped.length > 0 ? [`${skipped.length} skipped`] : []), ...(flaky.length > 0 ? [`${flaky.length} flaky`] : [])]
  return passed === 1 && more.length === 0 ? 'ok' : [`${passed} passed`, ...more].join(', ')
}

function excerpt({ output, log }) {
  const lines = output.trimEnd().split('\n')
  const shown = lines.slice(-SHOWN_LINES).map((line) => `    ${line}`)
  return [...(lines.length > SHOWN_LINES ? [`    … ${lines.length - SHOWN_LINES} lines before these in ${log}`] : []), ...shown].join('\n')
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0)
