/** Runs a test program so that whatever it started is stopped again: at its end, on an error, on Ctrl-C and on SIGTERM. */

export type Cleanup = (step: () => Promise<void> | void) => void

/** `main` registers what must be undone with `later`; undone in reverse order. Its result is the exit code. */
export async function runProgram(main: (later: Cleanup) => Promise<number>): Promise<void> {
  const steps: (() => Promise<void> | void)[] = []
  const undo = async (): Promise<void> => {
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) await step()
  }
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    process.once(signal, () => {
      void undo().finally(() => process.exit(code))
    })
  try {
    process.exitCode = await main((step) => steps.push(step))
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  } finally {
    await undo()
  }
}
