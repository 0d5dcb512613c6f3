/**
 * Runs `work` at once, then again `milliseconds` after each run has ended, so that runs never overlap. `stop` waits
 * for the current run.
 */
export function every(milliseconds: number, work: () => Promise<unknown>): { stop(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let running: Promise<unknown>
  const run = () => {
    running = work().finally(() => {
      if (!stopped) timer = setTimeout(run, milliseconds)
    })
  }
  run()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
