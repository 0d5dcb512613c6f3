import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

/** The processes that a process has started and that still run: proc(5). */
export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

/** Whether a process runs; a zombie does not. */
export async function isRunning(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return status !== '' && !/^State:\sZ/m.test(status)
}

/** Waits until all of these processes have exited. @returns the time in milliseconds @throws after `withinMs` */
export async function untilEnded(pids: readonly number[], { withinMs = 10_000 } = {}): Promise<number> {
  const from = performance.now()
  for (;;) {
    const running = (await Promise.all(pids.map(isRunning))).filter(Boolean)
    const ms = performance.now() - from
    if (running.length === 0) return ms
    if (ms > withinMs) throw new Error(`${running.length} of the processes ${pids} still run after ${ms} ms`)
    await pause(20)
  }
}
