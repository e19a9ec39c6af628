/**
 * Records what a real kube-apiserver answers: `node scripts/run.mjs test/conformance/record.ts --kubeconfig FILE [FOLDER]`
 * runs every sequence of the *.jsonl files of FOLDER (default test/conformance/more) and writes the answers into them. A
 * sequence is run twice, and left unchanged when its answers differ: what is not deterministic proves nothing. A step with
 * `retry` states itself what it waits for, and keeps that. To add a sequence, append its steps without answers (the
 * convention is in README.md) and record again.
 */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { runProgram } from '../machine/interrupt.ts'
import { runSequence } from './replay/run-sequence.ts'
import { readTarget, type Target } from './replay/target.ts'
import { type Answer, isCase, readTranscripts, type Sequence, type Step, withoutAnswer } from './replay/transcript.ts'

await runProgram(async (later) => {
  const { values, positionals } = parseArgs({
    options: { kubeconfig: { type: 'string' }, only: { type: 'string' } },
    allowPositionals: true,
  })
  if (values.kubeconfig === undefined) throw new Error('--kubeconfig names the server to record')
  const folder = positionals[0] ?? 'test/conformance/more'
  const only = new RegExp(values.only ?? '')
  const target = readTarget(values.kubeconfig)
  later(() => target.close())
  const byGroup = new Map<string, Step[]>()
  let unsteady = 0
  for (const sequence of readTranscripts(folder)) {
    const recorded = only.test(sequence.name) ? await record(target, sequence) : sequence.steps
    if (typeof recorded === 'string') console.log(`${sequence.name}: ${recorded} is not answered the same twice; not recorded`)
    unsteady += typeof recorded === 'string' ? 1 : 0
    byGroup.set(sequence.group, [...(byGroup.get(sequence.group) ?? []), ...(typeof recorded === 'string' ? sequence.steps : recorded)])
  }
  for (const [group, steps] of byGroup)
    writeFileSync(path.join(folder, `${group}.jsonl`), `${steps.map((step) => JSON.stringify(step)).join('\n')}\n`)
  return unsteady === 0 ? 0 : 1
})

/** The steps with their answers, or the names of those whose answers are not deterministic. */
async function record(target: Target, sequence: Sequence): Promise<Step[] | string> {
  const asked: Sequence = { ...sequence, steps: sequence.steps.map((step) => (step.retry ? step : withoutAnswer(step))) }
  const [first, second] = [await answers(target, asked), await answers(target, asked)]
  const cases = asked.steps.filter(isCase)
  const unsteady = cases.filter((_, i) => !isDeepStrictEqual(first[i], second[i]))
  if (unsteady.length > 0) return unsteady.map((step) => step.name ?? step.collect ?? '').join(', ')
  let at = 0
  return asked.steps.map((step) => (isCase(step) ? { ...step, ...first[at++] } : step))
}

async function answers(target: Target, sequence: Sequence): Promise<(Answer | undefined)[]> {
  const results = await runSequence(target, sequence, `rec-${randomBytes(6).toString('hex')}x`)
  return results.map((result) => result.answer)
}
