import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { bytesOf } from './load.js'
import { startServer } from './server.js'

export const CLIENT_TOKEN = 'pub_of-the-bench'
export const SECRET_CLIENT_TOKEN = 'sec_of-the-bench-only'

/**
 * Starts the built Sluice with its default settings on an empty data folder, and uploads files to it.
 *
 * @param {{folder: string, uploads?: string[], nodeOptions?: string[], env?: object}} options `env`: more variables
 * @returns {Promise<{server: import('./server.js').Server, records: object[]}>} the records in the order of `uploads`
 */
export async function startSluice({ folder, uploads = [], nodeOptions = [], env = {} }) {
  const server = await startServer({
    program: 'sh',
    script: ['scripts/node.sh', ...nodeOptions, 'dist/src/main.js'],
    folder,
    // The benchmark repeats archives, uploads and variants of one photo, which the default limits would refuse.
    env: {
      DATA_DIR: join(folder, 'data'),
      CLIENT_TOKEN,
      SECRET_CLIENT_TOKEN,
      ZIP_RATE_LIMIT: '0',
      UPLOAD_RATE_LIMIT: '0',
      VARIANT_LIMIT: '1000000',
      DERIVATIVES_MAX_TIMES: '1000000',
      DERIVATIVE_RATE_LIMIT: '0',
      DERIVATIVE_RATE_LIMIT_PER_IP: '0',
      CPU_RATE_LIMIT: '0',
      CPU_RATE_LIMIT_PER_IP: '0',
      SHUTDOWN_DELAY_SECONDS: '0',
      ...env,
    },
  })
  const records = []
  for (const path of uploads) {
    const request = uploadOf([{ name: basename(path), bytes: await readFile(path) }])
    records.push(...JSON.parse(await bytesOf(server.url, request)))
  }
  return { server, records }
}

/** The request that uploads files as one form. busboy alone accepts the same request. */
export function uploadOf(files) {
  const boundary = 'sluice-bench'
  const parts = files.flatMap(({ name, bytes }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`,
    bytes,
    '\r\n',
  ])
  return {
    method: 'POST',
    path: '/v1/upload',
    headers: {
      Authorization: SECRET_CLIENT_TOKEN,
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
    },
    body: Buffer.concat([...parts, `--${boundary}--\r\n`].map((part) => Buffer.from(part))),
  }
}

/** The request for an archive of untransformed files. */
export function zipOf(records) {
  const files = records.map(({ sourceName, originalName }) => ({ path: sourceName, name: originalName }))
  return {
    method: 'POST',
    path: '/v1/zip',
    headers: { Authorization: SECRET_CLIENT_TOKEN, 'Content-Type': 'application/json' },
    body: JSON.stringify({ files }),
  }
}

/** The request for a derivative of an uploaded file. */
export function derivativeOf({ src }, query) {
  return { method: 'GET', path: `${new URL(src).pathname}?${query}` }
}
