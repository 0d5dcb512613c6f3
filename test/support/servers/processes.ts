import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { eventually } from '../eventually.ts'

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

/** Waits until all of these processes have exited. */
export function untilEnded(pids: readonly number[]): Promise<void> {
  return eventually(async () => {
    const running = await Promise.all(pids.map(async (pid) => ((await isRunning(pid)) ? [pid] : [])))
    expect(running.flat(), 'still run').to.deep.equal([])
  })
}
