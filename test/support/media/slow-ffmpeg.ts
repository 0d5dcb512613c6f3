import { access, chmod, constants, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { StartService } from '../backends.ts'
import type { Service, ServiceOptions } from '../service.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/**
 * Creates a folder with an `ffmpeg` that reads its input at this multiple of the playing speed. A small film then keeps a
 * worker busy for seconds, and needs hardly any CPU time.
 *
 * @returns a PATH that begins with the folder, and the folder
 */
export async function slowFfmpeg(speed: number): Promise<{ PATH: string; folder: string }> {
  const { PATH = '' } = process.env
  const folder = await temporaryFolder()
  const program = join(folder, 'ffmpeg')
  // The name of the process stays ffmpeg.
  const script = `#!/bin/bash\nexec -a ffmpeg '${await installed(PATH)}' -readrate ${speed} "$@"\n`
  await writeFile(program, script)
  await chmod(program, 0o755)
  return { PATH: `${folder}${delimiter}${PATH}`, folder }
}

/** Starts a service that uses such an ffmpeg. @returns the service, and the folder to remove after it */
export async function startWithSlowFfmpeg(
  start: StartService,
  speed: number,
  options: ServiceOptions = {},
): Promise<{ service: Service; folder: string }> {
  const { PATH, folder } = await slowFfmpeg(speed)
  const former = process.env.PATH
  // The engines read it at their start.
  process.env.PATH = PATH
  try {
    return { service: await start(options), folder }
  } finally {
    process.env.PATH = former
  }
}

async function installed(path: string): Promise<string> {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, 'ffmpeg')
    const isProgram = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isProgram) return file
  }
  throw new Error('there is no ffmpeg')
}
