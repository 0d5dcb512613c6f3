import { readdir, readFile } from 'node:fs/promises'

/**
 * Kills processes of ffmpeg and LibreOffice that write into a folder whose owner has died: their output is not needed. They
 * are found by their arguments, on Linux only. On other systems their own time limit ends them.
 */
export async function killWritersInto(folder: string): Promise<void> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  for (const pid of pids) {
    const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
    if (
      /(^|\/)(ff(mpeg|probe)|soffice(\.bin)?)$/.test(args[0] ?? '') &&
      args.some((arg) => arg.startsWith(`${folder}/`))
    )
      kill(Number(pid))
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended, or belongs to another user.
  }
}
