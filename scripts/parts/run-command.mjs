// Runs one command of a part to completion: its output, its exit code, and the CPU seconds of it and all it waited for.
import { spawn } from 'node:child_process'
import { createWriteStream, existsSync, readFileSync } from 'node:fs'

/** A part that hangs must not hold up the rest for ever: it is killed after this grace period. */
const GRACE_MS = 30_000

export function runCommand([file, ...args], { log, minutes }) {
  return new Promise((resolve) => {
    const began = process.hrtime.bigint()
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
      setTimeout(() => child.kill('SIGKILL'), minutes * 60_000 + GRACE_MS),
    ]
    let cpuSeconds
    const finish = (code, more = ending) => {
      for (const timer of timers) clearTimeout(timer)
      process.removeListener('SIGTERM', stop)
      copy.end()
      resolve({ code, output: output + more, seconds: Number(process.hrtime.bigint() - began) / 1e9, cpuSeconds })
    }
    child.on('error', (error) => finish(1, `${file} cannot be started: ${error.message}\n`))
    child.on('exit', () => {
      cpuSeconds = cpuOfChildrenSinceLast()
    })
    child.on('close', (code) => finish(code ?? 1))
  })
}

const TICKS_PER_SECOND = 100
let counted = 0

/**
 * The kernel adds a child's time to its parent's when the child has been waited for, so what was added since the last child
 * ended is the time of this one. Background processes (a detached Sluice, the real control plane) are not included.
 * Undefined where there is no /proc.
 */
function cpuOfChildrenSinceLast() {
  if (!existsSync('/proc/self/stat')) return undefined
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // After the name in parentheses, which may contain anything: state is field 3, cutime and cstime are 16 and 17.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const total = (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
  const seconds = total - counted
  counted = total
  return seconds
}
