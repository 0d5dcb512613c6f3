import { readFile } from 'node:fs/promises'
import { parseEnv } from 'node:util'

/**
 * Sets the variables of a file such as `.env` for this process. As with `npm start`, they override those of the shell, such as the
 * `APP_SECRET` of another installation. Only a `PORT` of the shell remains.
 *
 * @throws {Error} when the file cannot be read
 */
export async function applyEnvFile(path: string): Promise<void> {
  const { PORT } = process.env
  Object.assign(process.env, parseEnv(await readFile(path, 'utf8')), PORT === undefined ? {} : { PORT })
}
