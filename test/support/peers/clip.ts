import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from '../temporary-folder.ts'
import { environment } from './program.ts'

/** Of a {@link clip}: seconds. */
export const CLIP_SECONDS = 20

/**
 * A video of 10 MB: ten seconds red, ten seconds blue, under noise that no encoder makes small. Its index is at its end,
 * so that a player must request that part first.
 */
export async function clip(): Promise<Buffer> {
  const folder = await temporaryFolder()
  const half = (color: string) => `color=${color}:s=320x180:r=10:d=10,noise=alls=100:allf=t`
  const file = join(folder, 'clip.mp4')
  const args = [
    ...['-v', 'error', '-f', 'lavfi', '-i', half('red'), '-f', 'lavfi', '-i', half('blue')],
    ...['-filter_complex', '[0][1]concat=n=2', '-c:v', 'libx264', '-preset', 'ultrafast'],
    ...['-b:v', '4M', '-pix_fmt', 'yuv420p', '-g', '10', file],
  ]
  try {
    await promisify(execFile)('ffmpeg', args, { env: environment(folder) })
    return await readFile(file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
