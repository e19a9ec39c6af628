// Runs the parts of a test run one after the other: a progress line each, the end of the output of what failed, one table at
// the end, and the closing line `N passed, M failed[, K skipped]`. Shared by scripts/test.mjs and scripts/ci.mjs.
//
// A part is { name, group?, command: [file, ...args], minutes? }. Its counts are read from its own closing line or from
// node --test; a part without either counts as one. A part that ends with exit code 0 has no failures: what it tolerates
// (recorded cases that are documented as different) is its own business. `skipped: REASON` lines and skips of node --test are taken over.
import { spawn } from 'node:child_process'
import { createWriteStream, mkdirSync } from 'node:fs'
import path from 'node:path'

const SHOWN_LINES = 80
const SHOWN_FAILURES = 20
/** A part that hangs must not hold up the rest for ever. */
const MOST_MINUTES = 20

export async function runParts(parts, { logs, only }) {
  mkdirSync(logs, { recursive: true })
  const results = []
  for (const part of choose(parts, only)) {
    process.stdout.write(`${part.name} … `)
    const result = await runPart(part, logs)
    results.push(result)
    process.stdout.write(`${said(result)}, ${result.seconds.toFixed(1)} s\n`)
    if (result.failed > 0) process.stdout.write(`${excerpt(result)}\n`)
  }
  return results
}

export function summarise(results) {
  const passed = sum(results.map((result) => result.passed))
  const failed = sum(results.map((result) => result.failed))
  const skipped = results.flatMap((result) => result.skipped.map((reason) => `${result.name}: ${reason}`))
  const rows = results.map((result) => [
    result.name,
    ...[result.passed, result.failed, result.skipped.length].map(String),
    result.seconds.toFixed(1),
  ])
  console.log(`\n${columns([['part', 'passed', 'failed', 'skipped', 'seconds'], ...rows])}`)
  for (const reason of skipped) console.log(`skipped: ${reason}`)
  for (const { name, output } of results.filter((result) => result.failed > 0))
    for (const what of failedIn(output).slice(0, SHOWN_FAILURES)) console.log(`failed: ${name}: ${what}`)
  console.log(`${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`)
  return failed === 0 && results.length > 0 ? 0 : 1
}

/** What cannot be run at all, and why. */
export function skippedPart(name, reason) {
  console.log(`${name} … skipped: ${reason}`)
  return { name, passed: 0, failed: 0, skipped: [reason], seconds: 0, output: '', log: '' }
}

function choose(parts, only) {
  if (only === undefined) return parts
  const wanted = only.split(',')
  const known = new Set(parts.flatMap((part) => [part.name, part.group]))
  const unknown = wanted.filter((name) => !known.has(name))
  if (unknown.length > 0) {
    console.error(`no such part: ${unknown.join(', ')} (there are: ${[...known].filter(Boolean).join(', ')})`)
    process.exit(2)
  }
  return parts.filter((part) => wanted.includes(part.name) || wanted.includes(part.group))
}

async function runPart({ name, command, minutes = MOST_MINUTES }, logs) {
  const log = path.join(logs, `${name.replaceAll(/[^\w.-]+/g, '-')}.log`)
  const began = process.hrtime.bigint()
  const { code, output } = await run(command, log, minutes)
  const seconds = Number(process.hrtime.bigint() - began) / 1e9
  const counts = countsIn(output) ?? { passed: 1, failed: 1 }
  const skipped = skippedIn(output)
  const passed = code === 0 || counts.isCounted ? counts.passed : 0
  return { name, passed, failed: code === 0 ? 0 : Math.max(1, counts.failed), skipped, seconds, output, log }
}

/** `skipped: REASON` of our own programs, and node --test's `ok 7 - NAME # SKIP REASON`. */
function skippedIn(output) {
  const ours = [...output.matchAll(/^skipped: (.*)$/gm)].map(([, reason]) => reason)
  const tests = [...output.matchAll(/^\s*ok \d+ - (.*) # SKIP(.*)$/gm)].map(([, name, reason]) => `${name}:${reason}`)
  return [...ours, ...tests]
}

/** `failed: WHAT` of our own programs, and node --test's `not ok 7 - NAME`, the innermost first. */
function failedIn(output) {
  const ours = [...output.matchAll(/^failed: (.*)$/gm)].map(([, what]) => what)
  const tests = [...output.matchAll(/^\s*not ok \d+ - (.*)$/gm)].map(([, name]) => name)
  return [...ours, ...tests]
}

function run([file, ...args], log, minutes) {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const stop = () => child.kill('SIGTERM')
    process.once('SIGTERM', stop)
    const copy = createWriteStream(log)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
        copy.write(text)
      })
    let ending = ''
    const timers = [
      setTimeout(() => {
        ending = `no end within ${minutes} minutes\n`
        stop()
      }, minutes * 60_000),
      setTimeout(() => child.kill('SIGKILL'), minutes * 60_000 + 30_000),
    ]
    const finish = (code, more = ending) => {
      for (const timer of timers) clearTimeout(timer)
      process.removeListener('SIGTERM', stop)
      copy.end()
      resolve({ code, output: output + more })
    }
    child.on('error', (error) => finish(1, `${file} cannot be started: ${error.message}\n`))
    child.on('close', (code) => finish(code ?? 1))
  })
}

/** `N passed, M failed` of our own programs, or the figures of node --test. */
function countsIn(output) {
  const [closing] = [...output.matchAll(/^(\d+) passed, (\d+) failed/gm)].slice(-1)
  if (closing !== undefined) return { passed: Number(closing[1]), failed: Number(closing[2]), isCounted: true }
  const figure = (name) => Number([...output.matchAll(new RegExp(`^(?:#|ℹ) ${name} (\\d+)$`, 'gm'))].at(-1)?.[1] ?? Number.NaN)
  const [passed, failed] = [figure('pass'), figure('fail')]
  return Number.isNaN(passed) || Number.isNaN(failed) ? undefined : { passed, failed, isCounted: true }
}

function said({ passed, failed, skipped }) {
  if (failed > 0) return `FAILED (${failed} of ${passed + failed})`
  return passed === 1 && skipped.length === 0 ? 'ok' : `${passed} passed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`
}

function excerpt({ output, log }) {
  const lines = output.trimEnd().split('\n')
  const shown = lines.slice(-SHOWN_LINES).map((line) => `    ${line}`)
  return [...(lines.length > SHOWN_LINES ? [`    … ${lines.length - SHOWN_LINES} lines before these in ${log}`] : []), ...shown].join('\n')
}

function columns(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  return rows.map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ')).join('\n')
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0)
