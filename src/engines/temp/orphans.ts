import { readdir, readFile } from 'node:fs/promises'

/**
 * Ends programs that write into a folder whose owner has died: nobody waits for what they make. They are known by their
 * arguments, which only Linux tells; elsewhere their own time limit ends them.
 */
export async function killWritersInto(folder: string): Promise<void> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  for (const pid of pids) {
    const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
    if (/(^|\/)ff(mpeg|probe)$/.test(args[0] ?? '') && args.some((arg) => arg.startsWith(`${folder}/`)))
      kill(Number(pid))
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself, or is another user's.
  }
}
