import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Program, startProgram } from './program.ts'

/**
 * Starts nginx with this content of its `http` block, in its own folder.
 *
 * @param options `port`: on which it responds when it is ready; `files`: the text of further files of its folder, by name
 */
export async function startNginxProgram({
  http,
  port,
  files = {},
}: {
  http: string
  port: number
  files?: Readonly<Record<string, string>>
}): Promise<Program> {
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
      for (const [name, text] of Object.entries({ ...files, 'nginx.conf': configuration }))
        await writeFile(join(folder, name), text)
      return ['-p', folder, '-c', 'nginx.conf']
    },
  })
}
