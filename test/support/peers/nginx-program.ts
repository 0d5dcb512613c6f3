import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startProgram } from './program.ts'

/**
 * Starts nginx with this content of its `http` block, in a folder of its own.
 *
 * @param port on which it answers when it is ready
 */
export async function startNginxProgram({
  http,
  port,
}: {
  http: string
  port: number
}): Promise<{ stop(): Promise<void> }> {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (what) => `${what}_temp_path temporary;`,
  )
  const configuration = `
    daemon off;
    user root;
    pid nginx.pid;
    error_log stderr;
    events {}
    http {
      access_log off;
      ${temporary.join('\n')}
      ${http}
    }`
  return startProgram({
    name: 'nginx',
    port,
    async args(folder) {
      await writeFile(join(folder, 'nginx.conf'), configuration)
      return ['-p', folder, '-c', 'nginx.conf']
    },
  })
}
