// The first module of every bundle of tests: seeds the property tests, remembers which file registers which test, and disables
// node:test's tracking of promises once everything is registered.
//
// node:test follows every promise with an async hook, to know which test an uncaught error belongs to. In worlds, which use
// promises heavily, that costs more than a third of the time. The hook is needed while describe() and it() find their parent;
// after that an uncaught error still fails the file and is printed here, but is no longer attributed to one test.
import { createHook } from 'node:async_hooks'
import { writeFileSync } from 'node:fs'
import fc from 'fast-check'

// Property tests draw from a fixed seed, so that a run can be repeated; FC_SEED=N explores others.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.FC_SEED ?? 20261115) })

const hooks = Object.getPrototypeOf(createHook({}))
const { enable } = hooks
const hooksOfRunner = []
hooks.enable = function () {
  if (/node:internal\/test_runner/.test(new Error('who?').stack ?? '')) hooksOfRunner.push(this)
  return enable.call(this)
}

const registered = []
let currentFile
const registrations = createHook({
  init(_id, type, _trigger, test) {
    if (type === 'Test') registered.push({ file: currentFile, test })
  },
})
enable.call(registrations)

/** What is registered from here on belongs to this file. */
export function begin(file) {
  currentFile = file
}

/** Everything is registered: the tests begin when the current turn ends. */
export function ready() {
  registrations.disable()
  hooks.enable = enable
  for (const hook of hooksOfRunner) hook.disable()
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, (error) => console.error(`${event}:`, error))
  const topLevel = registered.filter(({ test }) => test.parent && !test.parent.parent)
  writeFileSync(`${process.argv[1]}.files.json`, JSON.stringify(topLevel.map(({ file, test: { name } }) => ({ name, file }))))
  process.on('exit', () => {
    const { user, system } = process.cpuUsage()
    writeFileSync(`${process.argv[1]}.cpu.json`, JSON.stringify((user + system) / 1e6))
  })
}
