import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from '../temporary-folder.ts'

const execute = promisify(execFile)

/** A second of sound with a cover, written by ffmpeg. @param format a file's extension */
export async function covered(format: string, cover: Buffer): Promise<Buffer> {
  const folder = await temporaryFolder()
  try {
    const [image, file] = [join(folder, 'cover'), join(folder, `sound.${format}`)]
    await writeFile(image, cover)
    const inputs = ['-f', 'lavfi', '-i', 'sine=d=1', '-i', image, '-map', '0', '-map', '1']
    const output = ['-c:v', 'copy', '-disposition:v:0', 'attached_pic', file]
    await execute('ffmpeg', ['-nostdin', '-v', 'error', ...inputs, ...output])
    return await readFile(file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
